#include "cli/embed_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/heat_strip.h"
#include "cli/position_glimpse.h"
#include "cli/token_text.h"
#include "firstlayer/base/utf8.h"

namespace firstlayer::cli {
namespace {

constexpr std::size_t kShownIds = 8;
constexpr std::size_t kShownWindows = 8;
constexpr std::size_t kShownPositions = 8;
constexpr std::size_t kShownValues = 4;
constexpr std::size_t kShapeColumn = 17;
constexpr std::size_t kDetailColumn = 34;

/// "  0.4784  0.2094 -1.3080 ...", with "..." if there are more than `count`.
std::string values_text(std::span<const float> values, std::size_t count) {
  std::string text;
  for (const float value : values.first(std::min(count, values.size()))) text += fmt::format("{:8.4f}", value);
  return text + (values.size() > count ? " ..." : "");
}

/// A token between quotes, without what could move the cursor.
std::string in_quotes(std::string_view bytes) { return "\"" + printable(bytes) + "\""; }

std::string tokens_text(const Tokenizer& tokenizer, std::span<const TokenId> ids) {
  std::string text;
  for (const TokenId id : ids) text += (text.empty() ? "" : " ") + in_quotes(tokenizer.token_bytes(id));
  return text;
}

/// Prints the lines of the report, none wider than the terminal.
class ReportPrinter {
 public:
  explicit ReportPrinter(Console& console) : console_(console) {}

  void arrow(std::string_view step, std::string_view shape, std::string_view detail) {
    line(padded(padded(step, kShapeColumn) + std::string(shape), kDetailColumn) + std::string(detail));
  }

  void line(std::string_view text) { console_.print("{}\n", fitted(text, console_.columns())); }

 private:
  Console& console_;
};

std::string batches_text(const WindowReader& windows) {
  const std::size_t last = windows.windows() - (windows.batches() - 1) * windows.batch_size();
  std::string text = windows.batches() == 1 ? "1 batch" : grouped(windows.batches()) + " batches";
  if (last < windows.batch_size()) text += fmt::format("{} of {}", windows.batches() == 1 ? "" : ", the last", last);
  return text;
}

Shape<3> batch_shape(const WindowReader& windows, std::size_t dim) {
  return {std::min(windows.batch_size(), windows.windows()), windows.plan().context, dim};
}

void print_arrows(const EmbedSample& sample, const WindowReader& windows, const InputLayer& layer,
                  const Tokenizer& tokenizer, const std::optional<std::string>& output, ReportPrinter& printer) {
  const std::size_t context = windows.plan().context;
  const Shape<3> batch = batch_shape(windows, layer.dim());
  const std::string more = sample.text.ids > sample.first_ids.size() ? " ..." : "";
  printer.arrow("text", grouped(sample.text.bytes) + " bytes", in_quotes(tokenizer.decode(sample.first_ids)) + more);
  printer.arrow("  -> encode", grouped(sample.text.ids) + " ids", ids_text(sample.first_ids) + more);
  printer.arrow("  -> windows", shape_text(Shape<2>{windows.windows(), context}),
                fmt::format("stride {}; targets are one id later", windows.plan().stride));
  printer.arrow("  -> batch", shape_text(Shape<2>{batch[0], context}), batches_text(windows));

  const TokenId id = sample.inputs.view()(0, 0);
  const auto row_text = [](std::string_view name, std::span<const float> row) {
    return padded(name, 10) + values_text(row, kShownValues);
  };
  printer.arrow("  -> look up E", shape_text(batch),
                row_text(fmt::format("E[{}]", id), layer.token_table().view()[id]));
  if (const Tensor<float, 2>* positions = layer.position_table()) {
    printer.arrow("  -> add P", shape_text(Shape<2>{context, layer.dim()}), row_text("P[0]", positions->view()[0]));
  }
  printer.arrow("  =  input", shape_text(batch), row_text("x[0, 0]", sample.input_embeddings.view()[0][0]));
  if (output) {
    printer.arrow("  -> file", shape_text(Shape<3>{windows.windows(), context, layer.dim()}), *output);
  }
  if (const PositionGlimpse later = position_glimpse(layer.scheme()); !later.effect.empty()) {
    printer.arrow("  .. attention", later.sizes, later.effect);
  }
}

void print_windows(const EmbedSample& sample, const WindowReader& windows, const Tokenizer& tokenizer,
                   const Console& console, ReportPrinter& printer) {
  const std::size_t context = windows.plan().context;
  std::vector<std::string> ids;
  std::size_t widest = 0;
  for (std::size_t b = 0; b < sample.inputs.dim(0); ++b) {
    ids.push_back(fmt::format("{} -> {}", ids_text(sample.inputs.view()[b]), sample.targets.view()(b, context - 1)));
    widest = std::max(widest, ids.back().size());
  }
  const std::size_t width = std::min(widest, console.columns() / 2);
  printer.line("");
  printer.line("  window  " + padded("ids -> next", width) + "  tokens -> next");
  for (std::size_t b = 0; b < ids.size(); ++b) {
    const std::string tokens = tokens_text(tokenizer, sample.inputs.view()[b]) + " -> " +
                               in_quotes(tokenizer.token_bytes(sample.targets.view()(b, context - 1)));
    printer.line(fmt::format("{:>8}  {}  {}", windows.window(b), padded(fitted(ids[b], width), width), tokens));
  }
  const std::size_t rest = std::min(windows.batch_size(), windows.windows()) - ids.size();
  if (rest > 0) printer.line(fmt::format("     ...  and {} more in this batch", grouped(rest)));
}

/// The first window as a table, one token in a line; with colours, its first values also as a strip of cells.
void print_vectors(const EmbedSample& sample, const WindowReader& windows, const InputLayer& layer,
                   const Tokenizer& tokenizer, Console& console, ReportPrinter& printer) {
  constexpr std::size_t kTokenWidth = 13;
  const View<const float, 2> vectors = sample.input_embeddings.view()[0];
  const std::size_t shown = std::min(kShownPositions, windows.plan().context);
  const float scale = heat_scale(vectors.flat().first(shown * layer.dim()));
  std::size_t cells = 0;
  printer.line("");
  printer.line(fmt::format("  t  {}{:>6}    x[0, t], {} values each", padded("token", kTokenWidth), "id", layer.dim()));
  for (std::size_t t = 0; t < shown; ++t) {
    const TokenId id = sample.inputs.view()(0, t);
    const std::string token = padded(fitted(in_quotes(tokenizer.token_bytes(id)), kTokenWidth), kTokenWidth);
    const std::string text = fmt::format("{:>3}  {}{:>6}", t, token, id);
    const std::string numbers = text + values_text(vectors[t], console.colors() ? kShownValues - 1 : kShownValues);
    const std::size_t used = display_width(numbers) + 2;
    if (console.colors() && used < console.columns()) {
      cells = std::min(layer.dim(), console.columns() - used);
      console.print("{}  {}\n", numbers, heat_strip(vectors[t].first(cells), scale, console.true_color()));
    } else {
      printer.line(numbers);
    }
  }
  if (cells > 0) {
    printer.line(
        fmt::format("  cells: values 0..{}; blue - below 0, orange + above; full colour at {:.2f}", cells - 1, scale));
  }
}

}  // namespace

EmbedSample take_sample(const TextSize& text, const IdSpool& ids, WindowReader& windows, const InputLayer& layer,
                        unsigned threads) {
  EmbedSample sample;
  sample.text = text;
  sample.first_ids.resize(std::min<std::uint64_t>(kShownIds, ids.size()));
  ids.read(0, sample.first_ids);
  const Shape<2> shape{std::min({kShownWindows, windows.batch_size(), windows.windows()}), windows.plan().context};
  sample.inputs = Tensor<TokenId, 2>(shape);
  sample.targets = Tensor<TokenId, 2>(shape);
  windows.read(0, sample.inputs, sample.targets);
  sample.input_embeddings = Tensor<float, 3>({shape[0], shape[1], layer.dim()});
  layer.forward(sample.inputs, sample.input_embeddings, threads);
  return sample;
}

void print_report(const EmbedSample& sample, const WindowReader& windows, const InputLayer& layer,
                  const Tokenizer& tokenizer, const std::optional<std::string>& output, Console& console) {
  ReportPrinter printer(console);
  print_arrows(sample, windows, layer, tokenizer, output, printer);
  print_windows(sample, windows, tokenizer, console, printer);
  print_vectors(sample, windows, layer, tokenizer, console, printer);
}

void print_json_report(const EmbedSample& sample, const WindowReader& windows, const InputLayer& layer,
                       const std::optional<std::string>& output, Console& console) {
  const auto row = [](std::span<const TokenId> ids) { return std::vector<TokenId>(ids.begin(), ids.end()); };
  const std::span<const float> first = sample.input_embeddings.view()[0][0];
  Json report;
  report["text"] = {{"bytes", sample.text.bytes}};
  report["ids"] = {{"count", sample.text.ids}, {"first", sample.first_ids}};
  report["windows"] = {
      {"count", windows.windows()},
      {"context", windows.plan().context},
      {"stride", windows.plan().stride},
      {"first", {{"inputs", row(sample.inputs.view()[0])}, {"targets", row(sample.targets.view()[0])}}}};
  report["batches"] = {{"count", windows.batches()}, {"shape", batch_shape(windows, layer.dim())}};
  report["token_table"] = {{"shape", layer.token_table().shape()}};
  const Tensor<float, 2>* positions = layer.position_table();
  report["position_table"] = positions == nullptr ? Json(nullptr) : Json{{"shape", positions->shape()}};
  report["position"] = position_json(layer.scheme());
  report["input_embeddings"] = {
      {"shape", {windows.windows(), windows.plan().context, layer.dim()}},
      {"first", std::vector<float>(first.begin(), first.begin() + std::min(kShownIds, first.size()))}};
  if (output) report["output"] = *output;
  console.print("{}\n", json_text(report));
}

}  // namespace firstlayer::cli
