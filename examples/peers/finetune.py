"""examples/finetune.cpp by PyTorch and transformers, with the same options; the linear layer's first weights are others.

python finetune.py --model all-MiniLM-L6-v2 --texts reviews.tsv --steps 100 --save tuned.safetensors
"""

import argparse
import pathlib

import torch
import transformers
from safetensors.torch import save_model
from tokenizers import Tokenizer

TEXTS = [
    ("animals", "The lazy dog is asleep."), ("animals", "A quick fox jumps over the dog."),
    ("animals", "The cat's watching the fox."), ("animals", "Dogs jump again and again."),
    ("numbers", "Numbers like 3.14 and 2024."), ("numbers", "The vector 1, 2, 3 lies near 4."),
    ("numbers", "The square of 12 is 144."), ("numbers", "50% of 1,000,000 is a number.")]


class Classifier(torch.nn.Module):
    """A linear layer on the mean of a text's features."""

    def __init__(self, folder, classes):
        super().__init__()
        # Without dropout, as in finetune.cpp.
        self.bert = transformers.BertModel.from_pretrained(folder, add_pooling_layer=False).eval()
        self.head = torch.nn.Linear(self.bert.config.hidden_size, classes)

    def forward(self, ids, mask):
        x = self.bert(ids, attention_mask=mask).last_hidden_state * mask[..., None]
        return self.head(x.sum(1) / mask.sum(1, keepdim=True))


def main():
    """Print the loss now and then, and how many texts are told right at last."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default=str(pathlib.Path(__file__).parents[2] / "tests/goldens/models/bert"))
    parser.add_argument("--texts")
    parser.add_argument("--save")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--lr", type=float, default=0.003)
    args = parser.parse_args()
    torch.manual_seed(1)
    given = [line.split("\t", 1) for line in pathlib.Path(args.texts).read_text().splitlines()] if args.texts else TEXTS
    classes = {}
    labels = torch.tensor([classes.setdefault(name, len(classes)) for name, _ in given])
    tokenizer = Tokenizer.from_file(args.model + "/tokenizer.json")
    tokenizer.enable_padding()
    batches = []  # of 16, in turn
    for first in range(0, len(given), 16):
        found = tokenizer.encode_batch([text for _, text in given[first:first + 16]])
        batches.append((torch.tensor([t.ids for t in found]), torch.tensor([t.attention_mask for t in found]),
                        labels[first:first + 16]))
    net = Classifier(args.model, len(classes))
    optimizer = torch.optim.AdamW(net.parameters(), lr=args.lr, weight_decay=1e-4)
    for step in range(args.steps):
        ids, mask, own = batches[step % len(batches)]
        loss = torch.nn.functional.cross_entropy(net(ids, mask), own)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0 or step + 1 == args.steps:
            print(f"step {step + 1:3d}  loss {loss.item():.3f}")
    with torch.no_grad():
        right = sum((net(ids, mask).argmax(1) == own).sum().item() for ids, mask, own in batches)
    print(f"{right} of {len(given)} right")
    if args.save:
        save_model(net, args.save)


if __name__ == "__main__":
    main()
