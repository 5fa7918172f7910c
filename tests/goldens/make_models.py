"""Folders of small models of random weights as Hugging Face's transformers writes them, for the examples, and what these print of them.

`models/bert` and `models/gpt2` hold config.json, tokenizer.json (those of make_tokenizers.py) and model.safetensors.
"""

import json
import pathlib
import shutil

import torch
import transformers
from tokenizers import Tokenizer

HERE = pathlib.Path(__file__).parent
PRINTED = HERE.parent / "examples"
SENTENCES = [
    "The lazy dog is asleep.", "A fox jumps over the dog.", "Numbers are symbols.",
    "Vectors lie near each other.", "The café is in the street.", "I'm sure he'd agree, don't you think?"]


def write(name, model):
    """Draw the weights and write the folder, but for what transformers says of itself."""
    torch.manual_seed(0)
    with torch.no_grad():
        for value in model.parameters():
            if value.dim() > 1:
                value.copy_(torch.randn_like(value))
    folder = HERE / "models" / name
    model.eval().save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    config.pop("transformers_version")
    (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
    (folder / "generation_config.json").unlink(missing_ok=True)
    shutil.copy(HERE / f"tokenizer_{name}.json", folder / "tokenizer.json")
    return model, Tokenizer.from_file(str(folder / "tokenizer.json"))


def bert():
    """Print the sentences nearest to the query of examples/sentence_embeddings.cpp."""
    size = Tokenizer.from_file(str(HERE / "tokenizer_bert.json")).get_vocab_size()
    model, tokenizer = write("bert", transformers.BertModel(transformers.BertConfig(
        vocab_size=size, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=32, max_position_embeddings=48)))
    tokenizer.enable_padding()
    texts = tokenizer.encode_batch(SENTENCES + ["The dog sleeps again."])
    ids, mask = (torch.tensor([getattr(t, name) for t in texts]) for name in ("ids", "attention_mask"))
    x = model(ids, attention_mask=mask).last_hidden_state * mask[..., None]
    x = torch.nn.functional.normalize(x.sum(1) / mask.sum(1, keepdim=True))
    near = x[:-1] @ x[-1]
    lines = [f"{near[i]:6.3f}  {SENTENCES[i]}" for i in near.argsort(descending=True)[:5]]
    (PRINTED / "sentence_embeddings.txt").write_text("\n".join(lines) + "\n")


def gpt2():
    """Print what the model writes after the prompt of examples/generate.cpp."""
    size = Tokenizer.from_file(str(HERE / "tokenizer_gpt2.json")).get_vocab_size()
    model, tokenizer = write("gpt2", transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=size, n_embd=16, n_layer=2, n_head=4, n_positions=64, eos_token_id=0, bos_token_id=0)))
    ids = tokenizer.encode("The quick brown").ids
    made = model.generate(torch.tensor([ids]), max_new_tokens=20, do_sample=False, pad_token_id=0)
    (PRINTED / "generate.txt").write_text(tokenizer.decode(made[0].tolist()) + "\n")


if __name__ == "__main__":
    bert()
    gpt2()
