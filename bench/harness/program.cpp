#include "bench/harness/program.h"

#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace bench {

std::size_t memory(std::string_view key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return std::stoul(line.substr(key.size() + 1)) * 1024;
  }
  throw std::runtime_error("expected " + std::string(key) + " in /proc/self/status");
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::string bytes(static_cast<std::size_t>(file.tellg()), '\0');
  file.seekg(0);
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    throw std::runtime_error("cannot read " + path);
  return bytes;
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

void print_report(std::string_view version, std::span<const Measured> measures) {
  std::printf("{\"version\": \"%.*s\"", static_cast<int>(version.size()), version.data());
  for (const Measured& measure : measures) {
    std::printf(", \"%.*s\": [", static_cast<int>(measure.key.size()), measure.key.data());
    for (std::size_t i = 0; i < measure.values.size(); ++i) std::printf("%s%.9g", i ? ", " : "", measure.values[i]);
    std::printf("]");
  }
  std::printf("}\n");
}

int run_main(int argc, char** argv, void (*body)(std::span<char*> arguments)) {
  try {
    body(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}

}  // namespace bench
