"""Small models of random weights as PyTorch and Hugging Face's transformers write them, for the tests of io::load_torch.

`torch_<model>.safetensors` are the files; `torch_outputs.safetensors` has what each model is given (`<model>.x`) and computes (`<model>.y`).
"""

import pathlib
import tempfile

import torch
import transformers
from safetensors.torch import save_file
from torch import nn

HERE = pathlib.Path(__file__).parent
OUTPUTS = {}


def randomise(model):
    """Draw all parameters and statistics, also those that PyTorch begins with 0 and 1."""
    torch.manual_seed(0)
    with torch.no_grad():
        for name, value in model.state_dict().items():
            if value.is_floating_point():
                value.copy_(torch.rand_like(value) + 0.5 if "var" in name else torch.randn_like(value) / 2)
    return model.eval()


def record(name, x, y):
    """Keep what a model is given and what it computes."""
    OUTPUTS[name + ".x"] = x.float().contiguous()
    OUTPUTS[name + ".y"] = y.detach().contiguous()


def save_pretrained(name, model):
    """Write the file as transformers does."""
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        (HERE / f"torch_{name}.safetensors").write_bytes((pathlib.Path(folder) / "model.safetensors").read_bytes())


class Block(nn.Module):
    """A basic block with the names of torchvision's ResNet."""

    def __init__(self, n, m, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(n, m, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(m)
        self.conv2 = nn.Conv2d(m, m, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(m)
        self.downsample = nn.Sequential(nn.Conv2d(n, m, 1, stride, bias=False), nn.BatchNorm2d(m)) if n != m else None

    def forward(self, x):
        y = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        return torch.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    """A stem, two layers of a block each, a head."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 4, 3, 2, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(4)
        self.layer1 = nn.Sequential(Block(4, 4, 1))
        self.layer2 = nn.Sequential(Block(4, 8, 2))
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        return self.fc(self.layer2(self.layer1(x)).mean((2, 3)))


def main():
    ids = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 0]])
    bert = randomise(transformers.BertModel(transformers.BertConfig(
        vocab_size=12, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=12,
        max_position_embeddings=6), add_pooling_layer=False))
    save_pretrained("bert", bert)
    record("bert", ids, bert(ids).last_hidden_state)
    gpt2 = randomise(transformers.GPT2Model(transformers.GPT2Config(
        vocab_size=12, n_embd=8, n_layer=2, n_head=2, n_positions=6)))
    save_pretrained("gpt2", gpt2)
    record("gpt2", ids, gpt2(ids).last_hidden_state)
    llama = randomise(transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=12, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1,
        intermediate_size=12, max_position_embeddings=6)))
    save_pretrained("llama", llama)
    record("llama", ids, llama(ids).logits)
    resnet = randomise(ResNet())
    save_file(resnet.state_dict(), HERE / "torch_resnet.safetensors")
    image = torch.randn(2, 3, 16, 16)
    record("resnet", image, resnet(image))
    save_file(OUTPUTS, HERE / "torch_outputs.safetensors")


main()
