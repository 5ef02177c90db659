#pragma once
// The commands, each in a file of its own: NAME_command.cpp declares its flags, calls the library and prints.

#include "cli/flags.h"

namespace firstlayer::cli {

Command add_encode(CLI::App& root);
Command add_decode(CLI::App& root);
Command add_batches(CLI::App& root);
Command add_embed(CLI::App& root);
Command add_explain(CLI::App& root);
Command add_train(CLI::App& root);
Command add_generate(CLI::App& root);
Command add_skip_gram(CLI::App& root);
Command add_neighbors(CLI::App& root);
Command add_analogy(CLI::App& root);
Command add_completion(CLI::App& root);
Command add_man(CLI::App& root);

}  // namespace firstlayer::cli
