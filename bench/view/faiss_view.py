"""faiss's exact index of dot products.  usage: faiss_view.py KIND TABLE QUERIES THREADS (dump FILE | time N)"""

import faiss
from python_search import COUNT, main


def prepare(table, threads):
    faiss.omp_set_num_threads(threads)
    index = faiss.IndexFlatIP(table.shape[1])
    index.add(table)
    return lambda queries: index.search(queries, COUNT)[1]


main(faiss.__version__, prepare)
