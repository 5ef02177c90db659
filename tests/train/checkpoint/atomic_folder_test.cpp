#include "firstlayer/train/checkpoint/atomic_folder.h"

#include <gtest/gtest.h>

#include "firstlayer/base/errors.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

namespace fs = std::filesystem;
using testing::read_file;
using testing::TemporaryFolder;

void write_into(const AtomicFolder& folder, const std::string& content) {
  std::ofstream(folder.path() / "x.txt") << content;
}

TEST(AtomicFolder, AppearsWholeOnCommitAndNotBefore) {
  TemporaryFolder parent;
  AtomicFolder folder(parent / "step");
  write_into(folder, "one");
  EXPECT_FALSE(fs::exists(parent / "step"));
  folder.commit();
  EXPECT_EQ(read_file(parent / "step/x.txt"), "one");
  EXPECT_EQ(parent.names(), (std::set<std::string>{"step"}));
}

TEST(AtomicFolder, WithoutCommitNothingIsLeft) {
  TemporaryFolder parent;
  {
    AtomicFolder folder(parent / "step");
    write_into(folder, "one");
  }
  EXPECT_EQ(parent.names(), std::set<std::string>());
}

TEST(AtomicFolder, TakesThePlaceOfAnother) {
  TemporaryFolder parent;
  fs::create_directory(parent / "step");
  parent.write("step/old.txt", "old");
  AtomicFolder folder(parent / "step");
  write_into(folder, "new");
  EXPECT_EQ(read_file(parent / "step/old.txt"), "old");
  folder.commit();
  EXPECT_EQ(read_file(parent / "step/x.txt"), "new");
  EXPECT_FALSE(fs::exists(parent / "step/old.txt"));
  EXPECT_EQ(parent.names(), (std::set<std::string>{"step"}));
}

TEST(AtomicFolder, OthersMayReadIt) {
  TemporaryFolder parent;
  AtomicFolder folder(parent / "step");
  folder.commit();
  const fs::perms plain = (fs::create_directory(parent / "plain"), fs::status(parent / "plain").permissions());
  EXPECT_EQ(fs::status(parent / "step").permissions(), plain);
}

TEST(AtomicFolder, WhatAKillLeftIsTakenAway) {
  TemporaryFolder parent;
  fs::create_directory(parent / ".firstlayer-folder-abc123");
  parent.write(".firstlayer-folder-abc123/half", "x");
  parent.write("mine", "stays");
  AtomicFolder::remove_abandoned(parent.path());
  EXPECT_EQ(parent.names(), (std::set<std::string>{"mine"}));
}

TEST(AtomicFolder, RemovesAFolder) {
  TemporaryFolder parent;
  fs::create_directory(parent / "step");
  parent.write("step/x", "x");
  AtomicFolder::remove(parent / "step");
  EXPECT_EQ(parent.names(), std::set<std::string>());
}

TEST(AtomicFolder, NamesTheTargetWhenThereIsNoPlaceForIt) {
  TemporaryFolder parent;
  EXPECT_NE(testing::message_of<FileError>([&] { AtomicFolder folder(parent / "gone/step"); }).find("gone/step"),
            std::string::npos);
  parent.write("file", "x");
  AtomicFolder folder(parent / "file");
  EXPECT_THROW(folder.commit(), FileError);
  EXPECT_EQ(read_file(parent / "file"), "x");
}

}  // namespace
}  // namespace firstlayer
