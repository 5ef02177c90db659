#include "firstlayer/base/memory_map.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <type_traits>
#include <utility>

#include "firstlayer/base/errors.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

std::string text(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

std::string error_of(const std::filesystem::path& path) {
  return message_of<FileError>([&] { MappedFile file(path); });
}

TEST(MappedFile, GivesTheBytesOfTheFile) {
  TemporaryFolder folder;
  std::string content("ids\0\xff\n", 6);
  EXPECT_EQ(text(MappedFile(folder.write("a.bin", content))), content);
}

TEST(MappedFile, AnEmptyFileIsAnEmptySpan) {
  TemporaryFolder folder;
  EXPECT_TRUE(MappedFile(folder.write("empty", "")).bytes().empty());
  EXPECT_TRUE(MappedFile().bytes().empty());
}

TEST(MappedFile, MovesAndIsNotCopied) {
  static_assert(!std::is_copy_constructible_v<MappedFile>);
  TemporaryFolder folder;
  MappedFile first(folder.write("1", "one"));
  const std::byte* data = first.bytes().data();
  MappedFile moved(std::move(first));
  EXPECT_EQ(moved.bytes().data(), data);

  MappedFile assigned(folder.write("2", "two"));
  assigned = std::move(moved);
  EXPECT_EQ(text(assigned), "one");
  assigned = MappedFile();
  EXPECT_TRUE(assigned.bytes().empty());
}

TEST(MappedFile, AMissingFileIsAnErrorThatNamesIt) {
  TemporaryFolder folder;
  std::filesystem::path path = folder / "missing.npy";
  EXPECT_EQ(error_of(path), path.string() + ": cannot open: No such file or directory");
}

TEST(MappedFile, ADirectoryIsRefused) {
  TemporaryFolder folder;
  EXPECT_EQ(error_of(folder.path()),
            folder.path().string() + ": expected a file, received a directory; name a file inside it");
}

TEST(MappedFile, APipeIsRefusedWithoutWaitingForAWriter) {
  TemporaryFolder folder;
  std::filesystem::path path = folder / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(error_of(path), path.string() +
                                ": expected a regular file, received a pipe or device; save its content to a file "
                                "first");
}

}  // namespace
}  // namespace firstlayer
