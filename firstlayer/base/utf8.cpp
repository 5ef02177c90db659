#include "firstlayer/base/utf8.h"

namespace firstlayer {
namespace {

constexpr Utf8Char kInvalid{0xFFFD, 1, false};

/// The form of a lead byte: how many continuation bytes follow, and which first one is legal (RFC 3629, section 4).
struct Lead {
  unsigned continuations;
  unsigned char lowest;   ///< of the first continuation byte: rules out overlong forms
  unsigned char highest;  ///< rules out surrogates and values above U+10FFFF
};

Lead lead_form(unsigned char byte) {
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {1, 0x80, 0xBF};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};
  if (byte < 0xF0) return {2, 0x80, 0xBF};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  if (byte < 0xF4) return {3, 0x80, 0xBF};
  if (byte == 0xF4) return {3, 0x80, 0x8F};
  return {0, 0, 0};
}

void append_hex(std::string& out, unsigned char byte) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += "\\x";
  out += kDigits[byte >> 4];
  out += kDigits[byte & 15];
}

/// Controls (C0, DEL, C1) and the characters that break or reorder a line of text.
bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

Utf8Char decode_utf8(std::string_view text, std::size_t position) {
  auto byte_at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte_at(position);
  if (first < 0x80) return {first, 1, true};
  Lead lead = lead_form(first);
  if (lead.continuations == 0 || text.size() - position <= lead.continuations) return kInvalid;
  unsigned char second = byte_at(position + 1);
  if (second < lead.lowest || second > lead.highest) return kInvalid;
  char32_t code_point = (first & (0x3FU >> lead.continuations)) << 6 | (second & 0x3FU);
  for (unsigned i = 2; i <= lead.continuations; ++i) {
    unsigned char next = byte_at(position + i);
    if ((next & 0xC0) != 0x80) return kInvalid;
    code_point = code_point << 6 | (next & 0x3FU);
  }
  return {code_point, lead.continuations + 1, true};
}

bool is_valid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    Utf8Char c = decode_utf8(text, i);
    if (!c.valid) return false;
    i += c.length;
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    Utf8Char c = decode_utf8(text, i);
    std::string_view bytes = text.substr(i, c.length);
    i += c.length;
    if (c.valid && c.code_point == '\n') {
      out += "\\n";
    } else if (c.valid && c.code_point == '\t') {
      out += "\\t";
    } else if (c.valid && c.code_point == '\r') {
      out += "\\r";
    } else if (c.valid && (c.code_point == '"' || c.code_point == '\\')) {
      out += '\\';
      out += bytes;
    } else if (c.valid && !is_control(c.code_point)) {
      out += bytes;
    } else {
      for (char byte : bytes) append_hex(out, static_cast<unsigned char>(byte));
    }
  }
  return out;
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  out += printable(text);
  out += '"';
  return out;
}

}  // namespace firstlayer
