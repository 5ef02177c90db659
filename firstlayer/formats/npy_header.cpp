#include "firstlayer/formats/npy_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/tensor.h"
#include "firstlayer/formats/file_limits.h"

namespace firstlayer {
namespace {

constexpr std::string_view kGetAgain = "the file is damaged or was cut off, get it again";
constexpr std::string_view kRewrite = "write the file again with numpy.save";

constexpr std::array<std::pair<Dtype, std::string_view>, 12> kDescrs{{{Dtype::kBool, "|b1"},
                                                                      {Dtype::kU8, "|u1"},
                                                                      {Dtype::kI8, "|i1"},
                                                                      {Dtype::kI16, "<i2"},
                                                                      {Dtype::kU16, "<u2"},
                                                                      {Dtype::kF16, "<f2"},
                                                                      {Dtype::kI32, "<i4"},
                                                                      {Dtype::kU32, "<u4"},
                                                                      {Dtype::kF32, "<f4"},
                                                                      {Dtype::kF64, "<f8"},
                                                                      {Dtype::kI64, "<i8"},
                                                                      {Dtype::kU64, "<u8"}}};

[[noreturn]] void refuse(const std::filesystem::path& path, std::string_view where, const std::string& expected,
                         const std::string& received, std::string_view mend) {
  throw FormatError(
      path, std::string(where) + ": expected " + expected + ", received " + received + "; " + std::string(mend));
}

/// Reads the header's Python dict, of which numpy.save writes just this much:
///   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class DictReader {
 public:
  DictReader(std::string_view text, const std::filesystem::path& path) : text_(text), path_(path) {}

  std::optional<Dtype> dtype;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::size_t>> shape;

  void read() {
    require('{', "a dict");
    while (!accept('}')) {
      read_field();
      if (!accept(',')) {
        require('}', "a comma or the end of the dict");
        break;
      }
    }
    skip_space();
    if (next_ != text_.size()) unexpected("nothing after the dict");
    if (!dtype) missing("descr");
    if (!fortran_order) missing("fortran_order");
    if (!shape) missing("shape");
  }

 private:
  void read_field() {
    std::string_view key = read_string("a key");
    require(':', "a colon after the key");
    if (key == "descr") {
      once(dtype.has_value(), key);
      dtype = read_descr();
    } else if (key == "fortran_order") {
      once(fortran_order.has_value(), key);
      fortran_order = read_bool();
    } else if (key == "shape") {
      once(shape.has_value(), key);
      shape = read_shape();
    } else {
      refuse(path_, "header", "the keys descr, fortran_order and shape", quoted_text(key), kRewrite);
    }
  }

  Dtype read_descr() {
    skip_space();
    if (next_ < text_.size() && text_[next_] == '[') {
      refuse(path_, "descr", "one number type", "a structured type", "save its fields as arrays of their own");
    }
    std::string_view descr = read_string("the name of a type");
    for (const auto& [type, name] : kDescrs) {
      if (name == descr) return type;
    }
    if (descr.starts_with('>')) {
      refuse(path_, "descr", "little-endian numbers", "big-endian " + quoted_text(descr),
             "save array.astype(array.dtype.newbyteorder('<'))");
    }
    if (descr.starts_with("|O")) {
      refuse(path_, "descr", "one number type", "Python objects " + quoted_text(descr),
             "save an array of numbers; objects are never loaded");
    }
    refuse(path_, "descr", "a bool, integer or float of at most 8 bytes", quoted_text(descr),
           "convert the array with astype, such as to float32");
  }

  bool read_bool() {
    skip_space();
    for (bool value : {false, true}) {
      std::string_view word = value ? "True" : "False";
      if (text_.substr(next_).starts_with(word)) {
        next_ += word.size();
        return value;
      }
    }
    unexpected("fortran_order to be True or False");
  }

  /// A Python tuple: (), (3,), (3, 4) or (3, 4,).
  std::vector<std::size_t> read_shape() {
    std::vector<std::size_t> extents;
    require('(', "shape to be a tuple");
    bool comma = true;  // whether another number may follow
    while (!accept(')')) {
      if (!comma) unexpected("a comma or the end of the tuple");
      if (extents.size() == kMaxAxes) unexpected("at most " + std::to_string(kMaxAxes) + " axes");
      extents.push_back(read_extent());
      comma = accept(',');
    }
    if (extents.size() == 1 && !comma) unexpected("a comma after the only axis of a tuple");
    return extents;
  }

  std::size_t read_extent() {
    skip_space();
    std::uint64_t extent = 0;
    const char* begin = text_.data() + next_;
    auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), extent);
    bool leading_zero = end - begin > 1 && *begin == '0';  // not a number to Python
    if (error != std::errc() || leading_zero) unexpected("an axis to be a whole number below 2^64");
    next_ += static_cast<std::size_t>(end - begin);
    return static_cast<std::size_t>(extent);
  }

  /// A quoted string. numpy.save writes none that needs a backslash.
  std::string_view read_string(const char* what) {
    skip_space();
    char quote = next_ < text_.size() ? text_[next_] : '\0';
    if (quote != '\'' && quote != '"') unexpected(std::string(what) + " in quotes");
    std::size_t begin = next_ + 1;
    std::size_t end = text_.find(quote, begin);
    if (end == std::string_view::npos) unexpected(std::string("the closing quote of ") + what);
    next_ = end + 1;
    return text_.substr(begin, end - begin);
  }

  bool accept(char wanted) {
    skip_space();
    if (next_ == text_.size() || text_[next_] != wanted) return false;
    ++next_;
    return true;
  }

  void require(char wanted, const char* what) {
    if (!accept(wanted)) unexpected(what);
  }

  void skip_space() {
    while (next_ < text_.size() && std::strchr(" \t\n\r", text_[next_]) != nullptr && text_[next_] != '\0') ++next_;
  }

  void once(bool seen, std::string_view key) const {
    if (seen) refuse(path_, "header", "each key once", quoted_text(key) + " twice", kRewrite);
  }

  [[noreturn]] void missing(const std::string& key) const {
    refuse(path_, "header", "the keys descr, fortran_order and shape", "no " + key, kRewrite);
  }

  [[noreturn]] void unexpected(const std::string& expected) const {
    refuse(path_, "header", expected, next_ < text_.size() ? quoted_text(text_.substr(next_)) : "the end of the header",
           kRewrite);
  }

  std::string_view text_;
  const std::filesystem::path& path_;
  std::size_t next_ = 0;
};

/// Takes `count` bytes off the front of `rest`.
std::string_view take(std::string_view& rest, std::uint64_t count, std::string_view what,
                      const std::filesystem::path& path) {
  if (count > rest.size()) {
    refuse(path, what, std::to_string(count) + " bytes", std::to_string(rest.size()), kGetAgain);
  }
  std::string_view taken = rest.substr(0, static_cast<std::size_t>(count));
  rest.remove_prefix(taken.size());
  return taken;
}

/// Takes magic, version and length off the front of `rest`; the header's length.
std::uint64_t take_length(std::string_view& rest, const std::filesystem::path& path) {
  std::string_view magic = take(rest, kNpyMagic.size(), "magic", path);
  if (magic != kNpyMagic) {
    refuse(path, "magic", quoted_text(kNpyMagic), quoted_text(magic),
           "this is not a .npy file (an .npz is a zip archive of them: unpack it)");
  }
  std::string_view version = take(rest, 2, "version", path);
  auto major = static_cast<unsigned char>(version[0]);
  auto minor = static_cast<unsigned char>(version[1]);
  if (major < 1 || major > 3 || minor != 0) {
    refuse(path, "version", "1.0, 2.0 or 3.0", std::to_string(major) + "." + std::to_string(minor), kRewrite);
  }
  std::string_view bytes =
      take(rest, major == 1 ? sizeof(std::uint16_t) : sizeof(std::uint32_t), "header length", path);
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data(), bytes.size());
  return length;
}

}  // namespace

std::string_view npy_descr(Dtype dtype) {
  for (const auto& [known, descr] : kDescrs) {
    if (known == dtype) return descr;
  }
  return "";
}

NpyContent parse_npy(std::span<const std::byte> file, const std::filesystem::path& path) {
  std::string_view rest(reinterpret_cast<const char*>(file.data()), file.size());
  std::uint64_t length = take_length(rest, path);
  DictReader header(take(rest, length, "header", path), path);
  header.read();
  if (*header.fortran_order) {
    refuse(path, "fortran_order", "row-major order (False)", "column-major (True)",
           "save numpy.ascontiguousarray(array)");
  }
  std::string what = std::string(npy_descr(*header.dtype)) + " " + shape_text(*header.shape);
  std::optional<std::uint64_t> bytes = tensor_bytes(*header.dtype, *header.shape);
  if (!bytes) refuse(path, "shape", "an array whose bytes fit 64 bits", what, kRewrite);
  if (*bytes != rest.size()) {
    refuse(path, "array", std::to_string(*bytes) + " bytes for " + what, std::to_string(rest.size()),
           *bytes > rest.size() ? kGetAgain : "save one array to a file");
  }
  return {*header.dtype, *std::move(header.shape), file.last(rest.size())};
}

}  // namespace firstlayer
