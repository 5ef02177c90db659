#include "firstlayer/train/checkpoint/gpt_checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firstlayer/base/atomic_file.h"
#include "firstlayer/base/errors.h"
#include "firstlayer/formats/file_limits.h"
#include "firstlayer/train/checkpoint/atomic_folder.h"
#include "firstlayer/train/checkpoint/gpt2_vocabulary_files.h"
#include "firstlayer/train/checkpoint/gpt_config_json.h"
#include "firstlayer/train/checkpoint/gpt_tensors.h"
#include "firstlayer/train/checkpoint/json_fields.h"
#include "firstlayer/train/checkpoint/llmc_file.h"
#include "firstlayer/train/checkpoint/weight_files.h"

namespace firstlayer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTokens = "transformer.wte.weight";
constexpr std::string_view kPositions = "transformer.wpe.weight";
constexpr std::string_view kHead = "lm_head.weight";
constexpr std::string_view kBlocks = "transformer.h.";
constexpr std::size_t kGpt2Vocabulary = 50257;

/// One set of weights on its way into a network.
class GptReader {
 public:
  GptReader(const fs::path& path, const LoadGptOptions& options)
      : files_(path), config_(read_config(options)), layout_(config_) {}

  GptParameters read() {
    transposed_ = is_transposed();
    for (const GptTensor& tensor : layout_.tensors()) check(tensor);
    for (const auto& [name, stored] : files_.tensors()) check_known(name);
    GptParameters parameters(config_);  // only now, when the file is known to hold as much
    for (std::size_t i = 0; i < layout_.tensors().size(); ++i) copy(layout_.tensors()[i], parameters[i]);
    check_tied_head(parameters);
    check_fixed_positions();
    return parameters;
  }

 private:
  [[noreturn]] void refuse(const std::string& words) const { throw FormatError(files_.path(), words); }

  const StoredTensor& need(std::string_view name) const {
    const StoredTensor* stored = files_.find(name);
    if (stored == nullptr) refuse("expected a tensor " + std::string(name) + ", received none of that name");
    return *stored;
  }

  /// The tensor's shape, which must have two axes.
  Shape<2> matrix_shape(std::string_view name) const {
    const StoredTensor& stored = need(name);
    if (stored.shape.size() != 2)
      refuse(quoted_text(stored.name) + ": expected a matrix, received " + shape_text(stored.shape));
    return {stored.shape[0], stored.shape[1]};
  }

  /// Blocks that the file holds, each as the number in h.NUMBER.
  std::size_t stored_layers() const {
    std::size_t layers = 0;
    for (const auto& [name, stored] : files_.tensors()) {
      if (!name.starts_with(kBlocks)) continue;
      std::size_t layer = 0;
      const char* begin = name.data() + kBlocks.size();
      const auto result = std::from_chars(begin, name.data() + name.size(), layer);
      // No more blocks than tensors, so that a wild number costs no memory.
      if (result.ec == std::errc() && layer < files_.tensors().size()) layers = std::max(layers, layer + 1);
    }
    return layers;
  }

  GptConfig read_config(const LoadGptOptions& options) const {
    const fs::path path = files_.folder() / "config.json";
    const Shape<2> tokens = matrix_shape(kTokens);
    const std::size_t layers = stored_layers();
    if (!fs::exists(path)) return config_of_tensors(tokens, layers, options);
    const GptConfig config = parse_gpt_config(read_text_file(path), path);
    if (Shape<2>{config.vocabulary, config.dim} != tokens) {
      refuse(quoted_text(kTokens) +
             ": expected (vocab_size, n_embd) = " + shape_text(Shape<2>{config.vocabulary, config.dim}) +
             " as in config.json, received " + shape_text(tokens));
    }
    if (config.layers != layers) {
      refuse("expected the " + std::to_string(config.layers) + " blocks that config.json names, received " +
             std::to_string(layers));
    }
    return config;
  }

  GptConfig config_of_tensors(const Shape<2>& tokens, std::size_t layers, const LoadGptOptions& options) const {
    const Shape<2> positions = matrix_shape(kPositions);
    if (!options.heads) {
      refuse(
          "expected config.json beside it, received none, and the weights do not tell the number of heads; put "
          "{\"vocab_size\": …, \"n_positions\": …, \"n_embd\": …, \"n_layer\": …, \"n_head\": …} there");
    }
    const GptConfig config = {.vocabulary = tokens[0],
                              .context = positions[0],
                              .layers = layers,
                              .heads = *options.heads,
                              .dim = tokens[1],
                              .tied = files_.find(kHead) == nullptr || equals_tokens(need(kHead))};
    check_gpt_config(config);
    return config;
  }

  bool equals_tokens(const StoredTensor& head) const {
    const StoredTensor& tokens = need(kTokens);
    return head.dtype == tokens.dtype && head.shape == tokens.shape && std::ranges::equal(head.bytes, tokens.bytes);
  }

  /// nanoGPT's Linear keeps (outputs, inputs), Hugging Face's Conv1D (inputs, outputs); of (d, d) only the neighbours
  /// can tell.
  bool is_transposed() const {
    if (config_.layers == 0) return false;
    const Shape<2> shape = matrix_shape(layout_.tensors()[layout_.block(0, BlockTensor::kAttentionWeight)].name);
    return shape == Shape<2>{3 * config_.dim, config_.dim};
  }

  bool is_turned(const GptTensor& tensor) const {
    return transposed_ && tensor.is_matrix && tensor.name.starts_with(kBlocks);
  }

  /// A bias that nanoGPT leaves out (bias=False) adds nothing.
  bool may_be_absent(const GptTensor& tensor) const { return transposed_ && tensor.name.ends_with(".bias"); }

  void check(const GptTensor& tensor) const {
    if (files_.find(tensor.name) == nullptr && may_be_absent(tensor)) return;
    const StoredTensor& stored = need(tensor.name);
    std::vector<std::size_t> shape = tensor.shape;
    if (is_turned(tensor)) std::ranges::reverse(shape);
    if (stored.shape != shape) {
      refuse(quoted_text(stored.name) + ": expected shape " + shape_text(shape) + ", received " +
             shape_text(stored.shape));
    }
    if (!is_float_tensor(stored)) {
      refuse(quoted_text(stored.name) + ": expected F32, BF16 or F16, received " +
             std::string(dtype_name(stored.dtype)));
    }
  }

  /// A tensor of a block that this network lacks would change its results.
  void check_known(const std::string& name) const {
    if (!name.starts_with(kBlocks) || layout_.find(name)) return;
    if (name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias")) return;  // the causal mask, not learned
    refuse(quoted_text(name) + ": expected only tensors of a GPT-2 of " + std::to_string(config_.layers) +
           " blocks, received one that it does not have");
  }

  void copy(const GptTensor& tensor, std::span<float> out) const {
    const StoredTensor* stored = files_.find(tensor.name);
    if (stored == nullptr) return;
    if (is_turned(tensor)) return copy_transposed(*stored, tensor.shape[0], tensor.shape[1], out);
    copy_floats(*stored, out);
  }

  void check_tied_head(const GptParameters& parameters) const {
    const StoredTensor* head = files_.find(kHead);
    if (!config_.tied || head == nullptr) return;
    const std::span<const float> tokens = parameters[layout_.token_table()];
    std::vector<float> numbers(is_float_tensor(*head) && head->shape == need(kTokens).shape ? tokens.size() : 0);
    if (!numbers.empty()) copy_floats(*head, numbers);
    if (numbers.size() == tokens.size() && std::memcmp(numbers.data(), tokens.data(), tokens.size_bytes()) == 0) return;
    refuse(
        "lm_head.weight: expected the token table, for tie_word_embeddings is true, received another; set "
        "tie_word_embeddings to false in config.json, or remove the tensor");
  }

  /// What transformers would add is what the scheme adds, or somebody has trained it on.
  void check_fixed_positions() const {
    const StoredTensor* stored = files_.find(kPositions);
    if (layout_.position_table() || stored == nullptr) return;
    const Tensor<float, 2> table = fixed_position_table(config_);
    const bool same = stored->dtype == Dtype::kF32 && stored->bytes.size() == table.flat().size_bytes() &&
                      std::memcmp(stored->bytes.data(), table.flat().data(), stored->bytes.size()) == 0;
    if (same) return;
    refuse("wpe.weight: expected the positions of the scheme " + std::string(scheme_name(config_.position)) +
           " that config.json names, received others; remove \"firstlayer\" from config.json to read them as learned");
  }

  WeightFiles files_;
  GptConfig config_;
  GptLayout layout_;
  bool transposed_ = false;
};

void write_files(const fs::path& folder, const GptParameters& parameters) {
  write_gpt_tensors(folder / "model.safetensors", parameters, {{"format", "pt"}});
  write_whole(folder / "config.json", gpt_config_json(parameters.config()));
  if (parameters.config().vocabulary >= kGpt2Vocabulary) write_gpt2_vocabulary(folder);
}

}  // namespace

GptParameters load_gpt(const fs::path& path, const LoadGptOptions& options) {
  if (path.extension() == ".bin") return load_llmc(path);
  return GptReader(path, options).read();
}

void save_gpt(const fs::path& folder, const GptParameters& parameters) {
  if (fs::exists(folder)) return write_files(folder, parameters);
  const fs::path plain = folder.has_filename() ? folder : folder.parent_path();  // "model/" is "model"
  std::error_code error;
  if (plain.has_parent_path()) fs::create_directories(plain.parent_path(), error);
  if (error) throw_file_error(folder, "make the folder", error.value());
  AtomicFolder whole(plain);
  write_files(whole.path(), parameters);
  whole.commit();
}

}  // namespace firstlayer
