#pragma once
// SIGINT and SIGTERM, heard where a long piece of work can end well.

namespace firstlayer::cli {

/// From now on the first of them is remembered, for the work to end by itself; a second one ends the program.
void hear_stop_signals();

/// Whether one came. It may turn true at any moment: who decides by it asks once.
bool stop_signal_came();

}  // namespace firstlayer::cli
