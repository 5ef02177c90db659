#pragma once
// A text that is needed whole and more than once.

#include <string>
#include <string_view>

#include "cli/text_input.h"
#include "firstlayer/base/memory_map.h"

namespace firstlayer::cli {

class WholeText {
 public:
  /// The text that the flags name: one regular file is mapped, not copied; standard input and what several files hold
  /// is kept in memory, with a line end behind each file. Throws Failure and FileError as encode_text().
  explicit WholeText(const TextFlags& flags);

  /// Lives as long as this object.
  std::string_view bytes() const;

 private:
  MappedFile file_;
  std::string text_;
};

}  // namespace firstlayer::cli
