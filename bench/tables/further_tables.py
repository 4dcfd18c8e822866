"""Tables beyond the seven: columns kept, kinds, the number to predict and the label for usefulness; a fixed 80/20 split."""

from dataclasses import dataclass

import pandas as pd

from harness import SHARED

SUPPORT2 = (
    "age sex dzgroup race edu income num.co diabetes ca scoma avtisst meanbp wblc hrt temp pafi alb bili crea charges d.time death"
)


@dataclass
class Table:
    file: str
    keep: str  # columns
    cat: str = ""
    count: str = ""
    target: str | None = None  # a number: CRPS and coverage
    label: str | None = None  # what a tree learns from synthetic rows


TABLES = {
    "titanic": Table(
        "seaborn-titanic",
        "survived pclass sex age sibsp parch fare embarked deck",
        "survived pclass sex embarked deck", "sibsp parch", "fare", "survived",
    ),
    "support2": Table(
        "support2", SUPPORT2, "sex dzgroup race income diabetes ca death", "edu num.co scoma d.time", "charges", "death"
    ),
    "freMTPL2sev": Table("freMTPL2sev", "claims ClaimAmount", count="claims", target="ClaimAmount", label="ClaimAmount"),
    "danish": Table("evir-danish", "dat"),
    "flchain": Table(
        "survival-flchain",
        "age sex sample.yr kappa lambda flc.grp creatinine mgus futime death chapter",
        "sex mgus death chapter", "age sample.yr flc.grp futime", "futime", "death",
    ),
    "rotterdam": Table(
        "survival-rotterdam",
        "year age meno size grade nodes pgr er hormon chemo rtime recur dtime death",
        "meno size grade hormon chemo recur death", "year age nodes pgr er", "dtime", "recur",
    ),
    "bioChemists": Table("pscl-bioChemists", "art fem mar kid5 phd ment", "fem mar", "art kid5 ment", "art", "art"),
    "quine": Table("MASS-quine", "Eth Sex Age Lrn Days", "Eth Sex Age Lrn", "Days", "Days", "Days"),
}


def raw(table):
    frame = pd.read_csv(SHARED / "data" / "tables" / f"{table.file}.csv.gz")
    if "IDpol" in frame:  # the policy's number becomes its number of claims
        frame["claims"] = frame.groupby("IDpol")["IDpol"].transform("size")
    return frame[table.keep.split()]


def text(column):
    """A category as text: whole numbers without a point, missing cells still missing."""
    as_text = lambda v: str(int(v)) if isinstance(v, float) and v == int(v) else str(v)
    return column.map(as_text, na_action="ignore").astype(object)


def load(name, max_train=None, max_test=None, seed=0):
    """(train, test, kinds); a dot in a column's name becomes an underscore, so that `--set columns.NAME` can say it."""
    table = TABLES[name]
    frame = raw(table).sample(frac=1, random_state=seed).reset_index(drop=True)
    cat, count = table.cat.split(), table.count.split()
    kinds = {c: "cat" if c in cat else "count" if c in count else "real" for c in frame}
    for c in frame:
        frame[c] = text(frame[c]) if c in cat else frame[c].astype(float)
    frame.columns = [c.replace(".", "_") for c in frame]
    kinds = {c.replace(".", "_"): kind for c, kind in kinds.items()}
    n = int(0.8 * len(frame))
    return frame[:n][:max_train].copy(), frame[n:][:max_test].copy(), kinds
