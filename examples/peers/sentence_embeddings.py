"""examples/sentence_embeddings.cpp by PyTorch and transformers, with the same options.

python sentence_embeddings.py --model all-MiniLM-L6-v2 --query "How do I bake bread?" [--sentences file.txt]
"""

import argparse
import pathlib

import torch
import transformers
from tokenizers import Tokenizer

SENTENCES = [
    "The lazy dog is asleep.", "A fox jumps over the dog.", "Numbers are symbols.",
    "Vectors lie near each other.", "The café is in the street.", "I'm sure he'd agree, don't you think?"]


def main():
    """Print the sentences nearest to the query."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default=str(pathlib.Path(__file__).parents[2] / "tests/goldens/models/bert"))
    parser.add_argument("--sentences")
    parser.add_argument("--query", default="The dog sleeps again.")
    args = parser.parse_args()
    sentences = pathlib.Path(args.sentences).read_text().splitlines() if args.sentences else SENTENCES
    tokenizer = Tokenizer.from_file(args.model + "/tokenizer.json")
    tokenizer.enable_padding()
    model = transformers.BertModel.from_pretrained(args.model, add_pooling_layer=False).eval()

    @torch.no_grad()
    def embed(texts):
        found = tokenizer.encode_batch(texts)
        ids, mask = torch.tensor([t.ids for t in found]), torch.tensor([t.attention_mask for t in found])
        x = model(ids, attention_mask=mask).last_hidden_state * mask[..., None]
        return torch.nn.functional.normalize(x.sum(1) / mask.sum(1, keepdim=True))

    table = torch.cat([embed(sentences[i:i + 32]) for i in range(0, len(sentences), 32)])
    near = table @ embed([args.query])[0]
    for i in near.argsort(descending=True)[:5]:
        print(f"{near[i]:6.3f}  {sentences[i]}")


if __name__ == "__main__":
    main()
