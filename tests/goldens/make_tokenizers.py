"""Small tokenizers as Hugging Face's library trains and writes them, and what they make of texts, for the tests of data::Tokenizer.

`tokenizer_<name>.json` are the files; `tokenizer_texts.json` has for each of them texts with their numbers and what these are decoded as.
"""

import json
import pathlib

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).parent
CORPUS = [
    "The quick brown fox jumps over the lazy dog, again and again; the cat's watching, they're asleep.",
    "A sentence is embedded as a vector: sentences that mean the same lie near each other.",
    "Ein Satz über Äpfel, Öl und Übermut. Straße, naïve café, déjà vu, İstanbul, Ελλάδα, Москва.",
    "Numbers like 3.14159, 2024, 1,000,000 and symbols: #hash @at $5 50% a+b=c (x) [y] {z} <tag> \"quoted\".",
    "機械学習と深層学習。人工智能 한국어 문장 العربية हिन्दी 🤣🚀 ½ Ⅷ",
    "def f(x):\n    return x ** 2  # squares\n\n\tprint(f(12))",
    "It's what we've got, I'll say; don't you think he'd agree? We're sure I'm right!",
]
TEXTS = CORPUS + [
    "",
    " ",
    "   leading and trailing   ",
    "tabs\tand\r\nlines\n\n\n",
    "unbelievableunbelievableunbelievable",
    "x" * 120,
    "e\u0301 cafe\u0301 \u0344 \u200bzero\u200bwidth \u00adsoft \ufeff \ufffd \x00 \x07bell",
    "ÀÉÎÕÜ ǅ ß ẞ Σας ﬁ Å \u212b \u1e9b\u0323",
    "中文mixed日本 \u3000wide\u3000 한글",
    "[CLS] marks [SEP] inside [MASK].[mask] [PAD]",
    "<|endoftext|>begin<|endoftext|> <mask> a<mask>b <s>x</s> new_word new_words anew_word",
    "'s 't 'LL 'll ''' don''t 'revs",
    "1234567890 12a34 ٣٤ ² ½x",
    "a  b   c    d \n e\u00a0f\u2003g\u2028h",
    "🤣👩‍👩‍👧‍👦 🇩🇪 \U0001fae0",
]


def bert():
    """As BERT uncased."""
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=True)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    t.train_from_iterator(CORPUS * 3, trainers.WordPieceTrainer(vocab_size=400, special_tokens=special, show_progress=False))
    t.add_tokens(["new_word"])
    t.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[(s, t.token_to_id(s)) for s in ("[CLS]", "[SEP]")])
    t.enable_truncation(48)
    t.enable_padding(pad_id=t.token_to_id("[PAD]"), pad_token="[PAD]")
    return t


def cased():
    """As BERT cased."""
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=False)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece(cleanup=False)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    t.train_from_iterator(CORPUS, trainers.WordPieceTrainer(vocab_size=400, special_tokens=special, show_progress=False))
    t.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return t


def gpt2():
    """As GPT-2."""
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    t.train_from_iterator(CORPUS * 3, trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<|endoftext|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    return t


def roberta():
    """As RoBERTa, with a token that takes the space on its left, and words added alone."""
    t = Tokenizer(models.BPE(unk_token="<unk>"))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(CORPUS * 3, trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], show_progress=False))
    t.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
    t.add_tokens([AddedToken("new_word", single_word=True)])
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return t


def main():
    """Write the files."""
    texts = {}
    for make in (bert, cased, gpt2, roberta):
        t, name = make(), make.__name__
        path = HERE / f"tokenizer_{name}.json"
        t.save(str(path), pretty=False)
        t = Tokenizer.from_file(str(path))
        texts[name] = []
        for text in TEXTS:
            ids = t.encode(text).ids
            texts[name].append({
                "text": text, "ids": ids, "plain": t.encode(text, add_special_tokens=False).ids,
                "decoded": t.decode(ids), "whole": t.decode(ids, skip_special_tokens=False)})
    (HERE / "tokenizer_texts.json").write_text(json.dumps(texts) + "\n")


if __name__ == "__main__":
    main()
