"""A product and a partition.  usage: numpy_view.py KIND TABLE QUERIES THREADS (dump FILE | time N)"""

import numpy
from python_search import COUNT, main


def prepare(table, threads):
    def search(queries):
        scores = table @ queries[0] if len(queries) == 1 else queries @ table.T
        scores = scores.reshape(len(queries), -1)
        best = numpy.argpartition(scores, -COUNT, axis=1)[:, -COUNT:]
        order = numpy.argsort(-numpy.take_along_axis(scores, best, axis=1), axis=1)
        return numpy.take_along_axis(best, order, axis=1)

    return search


main(numpy.__version__, prepare)
