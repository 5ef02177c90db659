#pragma once
// The protocol of harness/contender.py's Program for contenders in C++: `dump FILE` or `time N` as the last arguments.

#include <chrono>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace bench {

/// Seconds of a steady clock.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What each of `count` calls took. What a call returns is freed outside its time.
template <std::invocable Call>
std::vector<double> time_calls(std::size_t count, Call&& call) {
  std::vector<double> seconds(count);
  for (double& taken : seconds) {
    const double start = now();
    if constexpr (std::is_void_v<std::invoke_result_t<Call>>) {
      call();
      taken = now() - start;
    } else {
      [[maybe_unused]] const auto result = call();
      taken = now() - start;
    }
  }
  return seconds;
}

/// "VmRSS", the bytes that this process holds, or "VmHWM", the most it held.
std::size_t memory(std::string_view key);

/// The bytes of a file. Throws std::runtime_error.
std::string read_file(const std::string& path);

/// Throws std::runtime_error.
void write_file(const std::string& path, std::span<const std::byte> bytes);

/// Prints {"version": version, key: values, …}: each a measure with its seconds or bytes.
struct Measured {
  std::string_view key;
  std::span<const double> values;
};
void print_report(std::string_view version, std::span<const Measured> measures);

/// Runs `body` with the arguments; what it throws is printed and makes the exit code 1.
int run_main(int argc, char** argv, void (*body)(std::span<char*> arguments));

}  // namespace bench
