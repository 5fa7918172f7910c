"""examples/generate.cpp by PyTorch and transformers, with the same options but for the draws.

python generate.py --model gpt2 --prompt "The meaning of life" --tokens 60 --temperature 0.8 --top-p 0.9
"""

import argparse
import pathlib

import torch
import transformers
from tokenizers import Tokenizer


def main():
    """Print what the model makes of the prompt."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default=str(pathlib.Path(__file__).parents[2] / "tests/goldens/models/gpt2"))
    parser.add_argument("--prompt", default="The quick brown")
    parser.add_argument("--tokens", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--temperature", type=float, default=0)
    parser.add_argument("--top-p", type=float, default=1)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    tokenizer = Tokenizer.from_file(args.model + "/tokenizer.json")
    model = transformers.GPT2LMHeadModel.from_pretrained(args.model).eval()
    ids = torch.tensor([tokenizer.encode(args.prompt).ids])
    draws = {"do_sample": True, "temperature": args.temperature, "top_p": args.top_p, "top_k": 0} if args.temperature else {"do_sample": False}
    made = model.generate(ids, max_new_tokens=args.tokens, pad_token_id=model.config.eos_token_id, **draws)
    print(tokenizer.decode(made[0].tolist()))


if __name__ == "__main__":
    main()
