// The nearest rows of a table, and rows of a large file.
// usage: firstlayer_view make TABLE QUERIES
//        firstlayer_view KIND TABLE QUERIES THREADS (dump FILE | time N)
//        firstlayer_view open FILE ROWS (dump FILE | time N)
//   make   writes a table (50257, 768) and queries (1000, 768), both .npy
//   KIND   one    one query a call, each time the next
//          batch  all queries a call
//   open   opens a safetensors file and reads that many rows of wte.weight, spread over it

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness/program.h"
#include "firstlayer/base/random.h"
#include "firstlayer/formats/stored_rows.h"
#include "firstlayer/version.h"
#include "firstlayer/view/neighbors.h"

namespace {

using namespace firstlayer;

constexpr std::size_t kVocabulary = 50257;
constexpr std::size_t kDim = 768;
constexpr std::size_t kQueries = 1000;
constexpr std::size_t kCount = 10;
constexpr std::size_t kWarmUpCalls = 3;

void write_normal(const std::string& path, std::size_t rows, Generator& generator) {
  Tensor<float, 2> table({rows, kDim});
  generator.fill_normal(table.flat());
  NpyWriter writer(path, Dtype::kF32, {rows, kDim});
  writer.append(std::as_bytes(table.flat()));
  writer.commit();
}

Tensor<float, 2> read_matrix(const std::string& path) { return StoredRows(NpyFile::open(path), path).read_all(); }

void append_ids(const std::vector<Neighbor>& neighbors, std::vector<TokenId>& ids) {
  for (const Neighbor& neighbor : neighbors) ids.push_back(neighbor.id);
}

void search(std::span<char*> arguments) {
  const bool one = std::string_view(arguments[0]) == "one";
  const Tensor<float, 2> table = read_matrix(arguments[1]);
  const Tensor<float, 2> queries = read_matrix(arguments[2]);
  const NeighborOptions options{.count = kCount, .threads = static_cast<unsigned>(std::stoul(arguments[3]))};
  const NeighborTable prepared(table, Metric::kDot);

  if (std::string_view(arguments[4]) == "dump") {
    std::vector<TokenId> ids;
    if (one) {
      for (std::size_t q = 0; q < queries.dim(0); ++q) append_ids(prepared.find(queries.view()[q], options), ids);
    } else {
      for (const std::vector<Neighbor>& neighbors : prepared.find(queries, options)) append_ids(neighbors, ids);
    }
    bench::write_file(arguments[5], std::as_bytes(std::span(ids)));
    return;
  }
  const std::size_t calls = kWarmUpCalls + std::stoul(arguments[5]);
  std::size_t next = 0;
  const std::vector<double> seconds =
      one ? bench::time_calls(calls, [&] { return prepared.find(queries.view()[next++ % queries.dim(0)], options); })
          : bench::time_calls(calls, [&] { return prepared.find(queries, options); });
  const bench::Measured call{"call", std::span(seconds).subspan(kWarmUpCalls)};
  bench::print_report(kVersion, {&call, 1});
}

Tensor<float, 2> read_rows(const std::string& path, std::size_t count) {
  const SafetensorsFile file = SafetensorsFile::open(path);
  const StoredRows rows(file, *file.find("wte.weight"));
  std::vector<TokenId> ids(count);
  for (std::size_t i = 0; i < count; ++i) ids[i] = static_cast<TokenId>(i * (rows.shape()[0] / count));
  Tensor<float, 2> out({count, rows.shape()[1]});
  rows.read(ids, out);
  return out;
}

void open(std::span<char*> arguments) {
  const std::string path = arguments[1];
  const std::size_t count = std::stoul(arguments[2]);
  if (std::string_view(arguments[3]) == "dump") {
    bench::write_file(arguments[4], std::as_bytes(read_rows(path, count).flat()));
    return;
  }
  const std::vector<double> seconds =
      bench::time_calls(std::stoul(arguments[4]), [&] { return read_rows(path, count); });
  // What a call touched goes with its mapping, so that one is looked at while it is there.
  const auto before = static_cast<double>(bench::memory("RssFile"));
  const SafetensorsFile file = SafetensorsFile::open(path);
  const StoredRows rows(file, *file.find("wte.weight"));
  Tensor<float, 2> out({1, rows.shape()[1]});
  for (std::size_t i = 0; i < count; ++i) {
    const auto id = static_cast<TokenId>(i * (rows.shape()[0] / count));
    rows.read({&id, 1}, out);
  }
  const std::vector<double> touched = {static_cast<double>(bench::memory("RssFile")) - before};
  const bench::Measured measured[] = {{"call", seconds}, {"touched", touched}};
  bench::print_report(kVersion, measured);
}

void measure(std::span<char*> arguments) {
  const std::string_view kind = arguments.empty() ? "" : arguments[0];
  if (kind == "make" && arguments.size() == 3) {
    Generator generator(123);
    write_normal(arguments[1], kVocabulary, generator);
    write_normal(arguments[2], kQueries, generator);
  } else if (kind == "open" && arguments.size() == 5) {
    open(arguments);
  } else if (arguments.size() == 6) {
    search(arguments);
  } else {
    throw std::invalid_argument("usage: firstlayer_view make|one|batch|open ..., see its source");
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run_main(argc, argv, measure); }
