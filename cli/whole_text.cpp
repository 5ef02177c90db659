#include "cli/whole_text.h"

#include <filesystem>
#include <vector>

namespace firstlayer::cli {

WholeText::WholeText(const TextFlags& flags) {
  const std::vector<std::string> files = text_files(flags);
  if (flags.text) {
    text_ = *flags.text;
  } else if (files.size() == 1 && std::filesystem::is_regular_file(files.front())) {
    file_ = MappedFile(files.front());
  } else {
    for (const std::string& path : files) {
      read_parts(path, [&](std::string_view part) { text_ += part; });
      text_ += '\n';
    }
  }
}

std::string_view WholeText::bytes() const {
  if (file_.bytes().empty()) return text_;
  return {reinterpret_cast<const char*>(file_.bytes().data()), file_.bytes().size()};
}

}  // namespace firstlayer::cli
