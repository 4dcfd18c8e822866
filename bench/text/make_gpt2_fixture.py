"""Makes crates/pmm-train/tests/gpt2: a GPT-2 of the Hugging Face implementation with small random weights, and its logits."""

import json
from pathlib import Path

import torch
from transformers import GPT2Config, GPT2LMHeadModel

folder = Path(__file__).resolve().parents[2] / "crates/pmm-train/tests/gpt2"
torch.manual_seed(0)
config = GPT2Config(vocab_size=17, n_positions=12, n_embd=12, n_layer=2, n_head=3, attn_pdrop=0, embd_pdrop=0, resid_pdrop=0)
model = GPT2LMHeadModel(config).eval()
with torch.no_grad():
    for parameter in model.parameters():
        parameter.add_(torch.randn_like(parameter) * 0.3)
    tokens = torch.randint(0, 17, (11,))
    logits = model(tokens[None]).logits[0]
folder.mkdir(parents=True, exist_ok=True)
model.save_pretrained(folder)
for name in ("generation_config.json",):
    (folder / name).unlink(missing_ok=True)
config = json.loads((folder / "config.json").read_text())
(folder / "config.json").write_text(json.dumps({"n_head": config["n_head"]}) + "\n")
(folder / "expected.json").write_text(json.dumps({"tokens": tokens.tolist(), "logits": logits.flatten().tolist()}) + "\n")
