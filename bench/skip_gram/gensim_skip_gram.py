"""gensim on the same work.  usage: gensim_skip_gram.py KIND TEXT HELD_OUT EPOCHS THREADS (dump FILE | time N)

KIND  sentences    lists of words in memory, as its users write it
      corpus_file  reads the file itself, without Python's lock
The rest as in firstlayer_skip_gram.cpp.
"""

import array
import json
import sys
import time
from pathlib import Path

import gensim
import numpy
from gensim.models.word2vec import FAST_VERSION, LineSentence, Word2Vec

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness.python_contender import resident_bytes  # noqa: E402

WINDOW, NEGATIVES = 5, 5

kind, text, held_out, epochs, threads, action, argument = sys.argv[1:]
if FAST_VERSION < 0:
    sys.exit("expected gensim with its compiled part, received the one in Python")


def words_of(sentence):
    """Indices of the words that stay after sub-sampling."""
    known = [model.wv.key_to_index[word] for word in sentence if word in model.wv.key_to_index]
    draws = draw.integers(0, 2**32, len(known))
    return numpy.array([word for word, chance in zip(known, draws) if sample_ints[word] >= chance], int)


def held_out_loss():
    """The mean over the pairs of -log s(u_o . v_c) - sum of log s(-u_n . v_c), without noise that is the neighbour."""
    def losses(inputs, outputs, sign):
        dots = numpy.einsum("ij,ij->i", model.wv.vectors[inputs], model.syn1neg[outputs])
        return numpy.logaddexp(0, -sign * dots.astype(float))

    total = pairs = 0
    for sentence in LineSentence(held_out):
        words = words_of(sentence)
        reach = draw.integers(1, WINDOW + 1, len(words))
        for distance in range(1, WINDOW + 1):
            for step in (-distance, distance):
                centres = numpy.arange(len(words))
                inside = (reach >= distance) & (centres + step >= 0) & (centres + step < len(words))
                inputs, outputs = words[centres[inside]], words[centres[inside] + step]
                total += losses(inputs, outputs, 1).sum()
                for _ in range(NEGATIVES):
                    noise = numpy.searchsorted(model.cum_table, draw.integers(0, model.cum_table[-1], len(outputs)))
                    total += losses(inputs, noise, -1)[noise != outputs].sum()
                pairs += len(inputs)
    return total / pairs


model = Word2Vec(sg=1, vector_size=100, window=WINDOW, negative=NEGATIVES, min_count=5, sample=1e-3, seed=1,
                 workers=int(threads))
source = {"corpus_file": text} if kind == "corpus_file" else {"corpus_iterable": list(LineSentence(text))}
model.build_vocab(**source)
work = dict(source, total_words=model.corpus_total_words, total_examples=model.corpus_count)
if action == "dump":
    model.train(**work, epochs=int(epochs))
    draw = numpy.random.default_rng(1)
    sample_ints = [model.wv.get_vecattr(word, "sample_int") for word in model.wv.index_to_key]
    Path(argument).write_bytes(array.array("f", [held_out_loss()]).tobytes())
    sys.exit()
seconds = []
for _ in range(int(argument)):
    start = time.perf_counter()
    model.train(**work, epochs=1)
    seconds.append(time.perf_counter() - start)
print(json.dumps({"version": gensim.__version__, "epoch": seconds, "peak": [resident_bytes("VmHWM")]}))
