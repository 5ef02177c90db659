#include "firstlayer/base/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "firstlayer/base/errors.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::as_bytes;
using testing::message_of;
using testing::read_file;
using testing::TemporaryFolder;

namespace fs = std::filesystem;

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

/// Runs `body` in a child process, which exits 0 if it returns true; the child's wait status.
int in_child(const std::function<bool()>& body) {
  pid_t child = fork();
  if (child == 0) {
    bool right = false;
    try {
      right = body();
    } catch (...) {
    }
    _exit(right ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

bool exited_well(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

TEST(AtomicFile, AppearsWholeOnCommitAndNotBefore) {
  TemporaryFolder folder;
  AtomicFile file(folder / "x.bin");
  file.append(as_bytes("one "));
  file.append(as_bytes("two"));
  EXPECT_FALSE(fs::exists(folder / "x.bin"));
  file.commit();
  EXPECT_EQ(read_file(folder / "x.bin"), "one two");
  EXPECT_EQ(folder.names(), (std::set<std::string>{"x.bin"}));
}

TEST(AtomicFile, PartsOfAnySizeKeepTheirOrder) {
  TemporaryFolder folder;
  std::string expected;
  AtomicFile file(folder / "x.bin");
  for (std::size_t size : {1U, 0U, (1U << 20) - 1, 1U, 3U << 20, 7U, 1U << 20, (1U << 20) - 2, 9U}) {
    std::string part(size, static_cast<char>('a' + expected.size() % 26));
    file.append(as_bytes(part));
    expected += part;
  }
  file.commit();
  EXPECT_TRUE(read_file(folder / "x.bin") == expected);
}

TEST(AtomicFile, WithoutCommitTheOldFileStaysAndNothingIsLeft) {
  TemporaryFolder folder;
  folder.write("x.bin", "old");
  {
    AtomicFile file(folder / "x.bin");
    file.append(as_bytes("new"));
  }
  EXPECT_EQ(read_file(folder / "x.bin"), "old");
  EXPECT_EQ(folder.names(), (std::set<std::string>{"x.bin"}));
}

TEST(AtomicFile, AKillInTheMiddleLeavesTheOldFileAndNothingElse) {
  TemporaryFolder folder;
  int probe = open(folder.path().c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (probe < 0) GTEST_SKIP() << "this file system has no unnamed files; a kill there leaves a hidden one";
  close(probe);
  folder.write("x.bin", "old");
  int status = in_child([&] {
    AtomicFile file(folder / "x.bin");
    file.append(as_bytes(std::string(5 << 20, 'n')));
    raise(SIGKILL);
    return false;
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_EQ(read_file(folder / "x.bin"), "old");
  EXPECT_EQ(folder.names(), (std::set<std::string>{"x.bin"}));
}

TEST(AtomicFile, AFullDiskIsAnErrorAndTheOldFileStays) {
  TemporaryFolder folder;
  fs::path path = folder.write("x.bin", "old");
  int status = in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit{1 << 16, 1 << 16};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    std::string message = message_of<FileError>([&] { write_whole(path, std::string(3 << 20, 'n')); });
    return message == path.string() + ": cannot write: File too large";
  });
  EXPECT_TRUE(exited_well(status));
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(folder.names(), (std::set<std::string>{"x.bin"}));
}

TEST(AtomicFile, AFullDiskThatShowsOnlyOnCommitIsAnErrorToo) {
  TemporaryFolder folder;
  fs::path path = folder.write("x.bin", "old");
  int status = in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit{4, 4};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    AtomicFile file(path);
    file.append(as_bytes("too long"));
    std::string message = message_of<FileError>([&] { file.commit(); });
    return message == path.string() + ": cannot write: File too large";
  });
  EXPECT_TRUE(exited_well(status));
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(folder.names(), (std::set<std::string>{"x.bin"}));
}

TEST(AtomicFile, AfterAnErrorNothingCanBeCommitted) {
  AtomicFile file("/dev/full");
  EXPECT_THROW(file.append(as_bytes(std::string(2 << 20, 'n'))), FileError);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { file.commit(); }),
            "[AtomicFile::commit] expected a file that is open, received one committed or failed");
}

TEST(AtomicFile, AfterCommitNothingCanBeAppended) {
  TemporaryFolder folder;
  AtomicFile file(folder / "x.bin");
  file.commit();
  EXPECT_EQ(message_of<std::invalid_argument>([&] { file.append(as_bytes("late")); }),
            "[AtomicFile::append] expected a file that is open, received one committed or failed");
  EXPECT_EQ(read_file(folder / "x.bin"), "");
}

TEST(AtomicFile, ADeviceIsWrittenInPlace) {
  write_whole("/dev/null", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(message_of<FileError>([] { write_whole("/dev/full", "x"); }),
            "/dev/full: cannot write: No space left on device");
}

TEST(AtomicFile, APipeIsWrittenInPlace) {
  TemporaryFolder folder;
  fs::path path = folder / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = read_file(path); });
  std::string sent(300000, 'p');  // more than a pipe holds: writes are short
  write_whole(path, sent);
  reader.join();
  EXPECT_TRUE(received == sent);
  EXPECT_TRUE(fs::is_fifo(path));
}

TEST(AtomicFile, ALinkIsFollowedAndStays) {
  TemporaryFolder folder;
  fs::create_directory(folder / "data");
  folder.write("data/x.bin", "old");
  fs::create_symlink("data/x.bin", folder / "middle");
  fs::create_symlink(folder / "middle", folder / "link");
  write_whole(folder / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_TRUE(fs::is_symlink(folder / "middle"));
  EXPECT_FALSE(fs::is_symlink(folder / "data/x.bin"));
  EXPECT_EQ(read_file(folder / "data/x.bin"), "new");
}

TEST(AtomicFile, ALinkToNothingMakesItsTarget) {
  TemporaryFolder folder;
  fs::create_symlink("x.bin", folder / "link");
  write_whole(folder / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "x.bin"), "new");
}

TEST(AtomicFile, ALinkToItselfIsAnError) {
  TemporaryFolder folder;
  fs::create_symlink("loop", folder / "loop");
  EXPECT_EQ(message_of<FileError>([&] { AtomicFile file(folder / "loop"); }),
            (folder / "loop").string() + ": cannot write: Too many levels of symbolic links");
}

TEST(AtomicFile, AReplacedFileHandsOnItsPermissions) {
  TemporaryFolder folder;
  fs::path path = folder.write("x.bin", "old");
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  write_whole(path, "new");
  EXPECT_EQ(mode_of(path), 0640U);
}

TEST(AtomicFile, ANewFileFollowsTheUmask) {
  TemporaryFolder folder;
  mode_t before = umask(027);
  write_whole(folder / "x.bin", "new");
  umask(before);
  EXPECT_EQ(mode_of(folder / "x.bin"), 0640U);
}

TEST(AtomicFile, ANameInTheWorkingDirectoryNeedsNoFolder) {
  TemporaryFolder folder;
  int status = in_child([&] {
    if (chdir(folder.path().c_str()) != 0) return false;
    write_whole("x.bin", "new");
    return true;
  });
  EXPECT_TRUE(exited_well(status));
  EXPECT_EQ(read_file(folder / "x.bin"), "new");
}

TEST(AtomicFile, ADirectoryIsRefused) {
  TemporaryFolder folder;
  EXPECT_EQ(message_of<FileError>([&] { AtomicFile file(folder.path()); }),
            folder.path().string() + ": expected a file to write, received a directory; name a file inside it");
}

TEST(AtomicFile, AMissingNameIsRefused) {
  TemporaryFolder folder;
  EXPECT_EQ(message_of<FileError>([] { AtomicFile file(""); }),
            ": expected the name of a file to write, received none");
  fs::path path = folder.path() / "new" / "";
  EXPECT_EQ(message_of<FileError>([&] { AtomicFile file(path); }),
            path.string() + ": expected the name of a file to write, received none");
}

TEST(AtomicFile, AMissingFolderIsAnErrorAtOnce) {
  TemporaryFolder folder;
  fs::path path = folder / "missing" / "x.bin";
  EXPECT_EQ(
      message_of<FileError>([&] { AtomicFile file(path); }),
      path.string() + ": cannot create a file in " + (folder / "missing").string() + ": No such file or directory");
}

/// Runs `body` in a child that obeys the permissions of files, though it may belong to root.
int without_rights(const std::function<bool()>& body) {
  return in_child([&] {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
    return syscall(SYS_capset, &header, none) == 0 && body();
  });
}

TEST(AtomicFile, AFolderThatTakesNoFileIsAnErrorAtOnce) {
  TemporaryFolder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0500), 0);
  fs::path path = folder / "x.bin";
  EXPECT_TRUE(exited_well(without_rights([&] {
    return message_of<FileError>([&] { AtomicFile file(path); }) ==
           path.string() + ": cannot create a file in " + folder.path().string() + ": Permission denied";
  })));
  ASSERT_EQ(chmod(folder.path().c_str(), 0700), 0);
}

TEST(AtomicFile, AFileThatMayNotBeWrittenIsNotReplaced) {
  TemporaryFolder folder;
  fs::path path = folder.write("x.bin", "old");
  ASSERT_EQ(chmod(path.c_str(), 0444), 0);
  EXPECT_TRUE(exited_well(without_rights([&] {
    return message_of<FileError>([&] { AtomicFile file(path); }) == path.string() + ": cannot write: Permission denied";
  })));
  EXPECT_EQ(read_file(path), "old");
}

TEST(AtomicFile, TheLongestNameIsNotTooLongForTheFileBeside) {
  TemporaryFolder folder;
  std::string longest(255, 'n');
  write_whole(folder / longest, "new");
  EXPECT_EQ(read_file(folder / longest), "new");
}

TEST(AtomicFile, WithoutUnnamedFilesAHiddenOneTakesTheirPlace) {
  TemporaryFolder folder;
  folder.write("x.bin", "old");
  constexpr int kNoRights = 77;
  int status = in_child([&] {
    // An unnamed file gets its name through /proc; hiding that is what can be done without another file system.
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("none", "/proc", "tmpfs", 0, nullptr) != 0) {
      _exit(kNoRights);
    }
    AtomicFile abandoned(folder / "x.bin");
    bool hidden = folder.names().size() == 2 && folder.names().begin()->starts_with(".firstlayer-");
    write_whole(folder / "x.bin", "new");
    write_whole(folder / "y.bin", "other");
    return hidden;
  });
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoRights) GTEST_SKIP() << "hiding /proc needs the rights of root";
  EXPECT_TRUE(exited_well(status));
  EXPECT_EQ(read_file(folder / "x.bin"), "new");
  EXPECT_EQ(read_file(folder / "y.bin"), "other");
  EXPECT_EQ(folder.names(), (std::set<std::string>{"x.bin", "y.bin"}));
}

}  // namespace
}  // namespace firstlayer
