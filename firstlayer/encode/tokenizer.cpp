#include "firstlayer/encode/tokenizer.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/utf8.h"
#include "firstlayer/encode/encodings.h"
#include "firstlayer/encode/piece_encoder.h"
#include "firstlayer/encode/vocabulary.h"

namespace firstlayer {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The special tokens that the rules turn into ids, and those whose text they refuse.
struct SortedSpecials {
  std::vector<SpecialToken> allowed;
  std::vector<SpecialToken> refused;
};

SortedSpecials sort_specials(std::span<const SpecialToken> tokens, const SpecialRules& rules) {
  for (const std::string& name : rules.allowed) {
    bool known =
        std::any_of(tokens.begin(), tokens.end(), [&](const SpecialToken& token) { return token.text == name; });
    if (known) continue;
    std::string names;
    for (const SpecialToken& token : tokens) names += (names.empty() ? "" : ", ") + std::string(token.text);
    throw_invalid("encode", "allowed special tokens among " + names, in_quotes(name));
  }
  SortedSpecials sorted;
  for (const SpecialToken& token : tokens) {
    if (rules.allow_all || contains(rules.allowed, token.text)) {
      sorted.allowed.push_back(token);
    } else if (!rules.others_are_text) {
      sorted.refused.push_back(token);
    }
  }
  return sorted;
}

}  // namespace

/// One encoding and the encoders that are not at work now. A call takes one, or makes one, and gives it back: as many
/// caches as there were calls at the same time.
struct Tokenizer::State {
  explicit State(const Encoding& which) : encoding(which), vocabulary(which.image) {}

  std::unique_ptr<PieceEncoder> take() {
    {
      std::lock_guard lock(mutex);
      if (!idle.empty()) {
        std::unique_ptr<PieceEncoder> encoder = std::move(idle.back());
        idle.pop_back();
        return encoder;
      }
    }
    return std::make_unique<PieceEncoder>(vocabulary);
  }

  void give_back(std::unique_ptr<PieceEncoder> encoder) {
    std::lock_guard lock(mutex);
    idle.push_back(std::move(encoder));
  }

  const Encoding encoding;
  const Vocabulary vocabulary;
  std::mutex mutex;
  std::vector<std::unique_ptr<PieceEncoder>> idle;
};

Tokenizer::Tokenizer(std::shared_ptr<State> state) : state_(std::move(state)) {}

Tokenizer Tokenizer::get_encoding(std::string_view name) {
  std::string known;
  for (const Encoding& encoding : encodings()) {
    if (encoding.name == name) return Tokenizer(std::make_shared<State>(encoding));
    known += (known.empty() ? "" : ", ") + std::string(encoding.name);
  }
  throw_invalid("get_encoding", "one of " + known, in_quotes(name));
}

std::vector<std::string> Tokenizer::encoding_names() {
  std::vector<std::string> names;
  for (const Encoding& encoding : encodings()) names.emplace_back(encoding.name);
  return names;
}

std::string_view Tokenizer::name() const { return state_->encoding.name; }

std::size_t Tokenizer::vocabulary_size() const {
  std::size_t size = state_->vocabulary.size();
  for (const SpecialToken& token : state_->encoding.special_tokens) size = std::max<std::size_t>(size, token.id + 1);
  return size;
}

TokenId Tokenizer::end_of_text() const { return state_->encoding.end_of_text; }

std::span<const SpecialToken> Tokenizer::special_tokens() const { return state_->encoding.special_tokens; }

std::vector<TokenId> Tokenizer::encode(std::string_view text, const SpecialRules& rules) const {
  std::vector<TokenId> ids;
  ids.reserve(text.size() / 3);  // most texts need less; what is not used is never touched
  encode_to(text, rules, ids);
  return ids;
}

std::vector<TokenId> Tokenizer::encode_ordinary(std::string_view text) const {
  return encode(text, {.others_are_text = true});
}

void Tokenizer::encode_to(std::string_view text, const SpecialRules& rules, std::vector<TokenId>& ids) const {
  SortedSpecials specials = sort_specials(state_->encoding.special_tokens, rules);
  if (auto match = find_special(text, 0, specials.refused)) throw SpecialTokenError(match->token.text, match->position);

  std::unique_ptr<PieceEncoder> encoder = state_->take();
  for (std::size_t from = 0;;) {
    std::optional<SpecialMatch> match = find_special(text, from, specials.allowed);
    encoder->encode(text.substr(from, match ? match->position - from : std::string_view::npos), ids);
    if (!match) break;
    ids.push_back(match->token.id);
    from = match->position + match->token.text.size();
  }
  state_->give_back(std::move(encoder));
}

std::string Tokenizer::decode(std::span<const TokenId> ids) const {
  std::string text;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= vocabulary_size()) {
      throw_out_of_range("decode", "ids below V = " + std::to_string(vocabulary_size()),
                         std::to_string(ids[i]) + " at place " + std::to_string(i));
    }
    text += token_bytes(ids[i]);
  }
  return text;
}

std::string_view Tokenizer::token_bytes(TokenId id) const {
  if (id < state_->vocabulary.size()) return state_->vocabulary.token_bytes(id);
  for (const SpecialToken& token : state_->encoding.special_tokens) {
    if (token.id == id) return token.text;
  }
  throw_out_of_range("token_bytes", "an id of a token of " + std::string(name()), std::to_string(id));
}

}  // namespace firstlayer
