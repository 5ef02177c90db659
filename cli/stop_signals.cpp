#include "cli/stop_signals.h"

#include <csignal>

namespace firstlayer::cli {
namespace {

volatile std::sig_atomic_t stop_signals = 0;

}  // namespace

void hear_stop_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { stop_signals = 1; };
  action.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool stop_signal_came() { return stop_signals != 0; }

}  // namespace firstlayer::cli
