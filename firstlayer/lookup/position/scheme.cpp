#include "firstlayer/lookup/position/scheme.h"

#include <array>
#include <string>

#include "firstlayer/base/errors.h"

namespace firstlayer {
namespace {

constexpr std::array kSchemes = {PositionScheme::kLearned, PositionScheme::kSinusoidal, PositionScheme::kSinusoidalHalf,
                                 PositionScheme::kRotary,  PositionScheme::kAlibi,      PositionScheme::kT5,
                                 PositionScheme::kNone};

}  // namespace

PositionRole position_role(PositionScheme scheme) {
  switch (scheme) {
    case PositionScheme::kLearned:
    case PositionScheme::kSinusoidal:
    case PositionScheme::kSinusoidalHalf:
      return PositionRole::kAdded;
    case PositionScheme::kRotary:
      return PositionRole::kRotatesQueriesAndKeys;
    case PositionScheme::kAlibi:
    case PositionScheme::kT5:
      return PositionRole::kBiasesScores;
    case PositionScheme::kNone:
      return PositionRole::kNone;
  }
  throw_invalid("position_role", "a PositionScheme", std::to_string(static_cast<int>(scheme)));
}

std::string_view scheme_name(PositionScheme scheme) {
  switch (scheme) {
    case PositionScheme::kLearned:
      return "learned";
    case PositionScheme::kSinusoidal:
      return "sinusoidal";
    case PositionScheme::kSinusoidalHalf:
      return "sinusoidal-half";
    case PositionScheme::kRotary:
      return "rotary";
    case PositionScheme::kAlibi:
      return "alibi";
    case PositionScheme::kT5:
      return "t5";
    case PositionScheme::kNone:
      return "none";
  }
  throw_invalid("scheme_name", "a PositionScheme", std::to_string(static_cast<int>(scheme)));
}

PositionScheme find_scheme(std::string_view name) {
  std::string names;
  for (const PositionScheme scheme : kSchemes) {
    if (scheme_name(scheme) == name) return scheme;
    names.append(names.empty() ? "" : ", ").append(scheme_name(scheme));
  }
  std::string received = "\"";
  received.append(name).append("\"");
  throw_invalid("find_scheme", names, received);
}

std::span<const PositionScheme> position_schemes() { return kSchemes; }

}  // namespace firstlayer
