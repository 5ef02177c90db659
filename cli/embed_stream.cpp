#include "cli/embed_stream.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cli/progress.h"
#include "firstlayer/formats/npy.h"
#include "firstlayer/formats/safetensors.h"

namespace firstlayer::cli {
namespace {

constexpr std::size_t kPartBytes = std::size_t{8} << 20;

/// Takes the next bytes of the file being written.
using Append = std::function<void(std::span<const std::byte>)>;

/// Calls use(inputs, targets) on all windows of an epoch, `rows` at a time.
template <class Use>
void for_each_part(WindowReader& windows, std::size_t rows, const Use& use) {
  std::vector<TokenId> inputs;
  std::vector<TokenId> targets;
  for (std::size_t first = 0; first < windows.windows(); first += rows) {
    const Shape<2> shape{std::min(rows, windows.windows() - first), windows.plan().context};
    inputs.resize(element_count(shape));
    targets.resize(inputs.size());
    windows.read(first, {inputs, shape}, {targets, shape});
    use(Matrix<TokenId>(inputs, shape), Matrix<TokenId>(targets, shape));
  }
}

/// As many rows of `row_bytes` as fit a part, at least one.
std::size_t rows_of_part(std::size_t row_bytes) { return std::max<std::size_t>(1, kPartBytes / row_bytes); }

void append_ids(WindowReader& windows, bool targets, const Append& append) {
  std::vector<std::int64_t> wide;
  for_each_part(windows, rows_of_part(windows.plan().context * sizeof(std::int64_t)),
                [&](Matrix<const TokenId> inputs, Matrix<const TokenId> shifted) {
                  const std::span<const TokenId> ids = (targets ? shifted : inputs).flat();
                  wide.assign(ids.begin(), ids.end());
                  append(std::as_bytes(std::span(wide)));
                });
}

void append_embeddings(WindowReader& windows, const InputLayer& layer, unsigned threads, const Append& append) {
  const std::size_t context = windows.plan().context;
  const std::size_t rows = std::min(windows.windows(), rows_of_part(context * layer.dim() * sizeof(float)));
  Tensor<float, 3> block({rows, context, layer.dim()});
  for_each_part(windows, rows, [&](Matrix<const TokenId> inputs, Matrix<const TokenId>) {
    const Shape<3> shape{inputs.dim(0), context, layer.dim()};
    const View<float, 3> out(block.flat().first(element_count(shape)), shape);
    layer.forward(inputs, out, threads);
    append(std::as_bytes(out.flat()));
  });
}

}  // namespace

void write_embeddings(const std::filesystem::path& path, WindowReader& windows, const InputLayer& layer,
                      const Console& console) {
  const std::size_t context = windows.plan().context;
  const std::vector<std::size_t> embeddings_shape{windows.windows(), context, layer.dim()};
  Progress progress(console, "embed", element_count(embeddings_shape) * sizeof(float));
  if (path.extension() == ".npy") {
    NpyWriter writer(path, Dtype::kF32, embeddings_shape);
    append_embeddings(windows, layer, console.threads(), [&](std::span<const std::byte> bytes) {
      writer.append(bytes);
      progress.advance(bytes.size());
    });
    writer.commit();
    return;
  }

  SafetensorsWriter writer(path, {{"input_embeddings", Dtype::kF32, embeddings_shape},
                                  {"inputs", Dtype::kI64, {windows.windows(), context}},
                                  {"targets", Dtype::kI64, {windows.windows(), context}}});
  for (const TensorSpec& tensor : writer.tensors()) {
    if (tensor.name == "input_embeddings") {
      append_embeddings(windows, layer, console.threads(), [&](std::span<const std::byte> bytes) {
        writer.append(bytes);
        progress.advance(bytes.size());
      });
    } else {
      append_ids(windows, tensor.name == "targets", [&](std::span<const std::byte> bytes) { writer.append(bytes); });
    }
  }
  writer.commit();
}

}  // namespace firstlayer::cli
