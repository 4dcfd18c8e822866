"""The same model behind FastAPI: what a person would write with the Python package."""

import os

import pandas as pd
import pmm
from fastapi import FastAPI
from pydantic import BaseModel

app = FastAPI()
model = pmm.load(os.environ["MODEL"])
TARGET = os.environ["TARGET"]


class Table(BaseModel):
    columns: list[str]
    rows: list[list]


class Wanted(BaseModel):
    count: int = 10
    seed: int = 0


@app.post("/predict")
def predict(table: Table):
    law = model.predict(pd.DataFrame(table.rows, columns=table.columns), TARGET)
    quantiles = law.quantile([0.05, 0.25, 0.5, 0.75, 0.95])
    return {"mean": law.mean().tolist(), "quantiles": quantiles.tolist()}


@app.post("/sample")
def sample(wanted: Wanted):
    rows = model.sample(wanted.count, seed=wanted.seed)
    return {"columns": list(rows.columns), "rows": rows.astype(object).where(rows.notna(), None).values.tolist()}
