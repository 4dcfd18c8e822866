"""Estimators in a pipeline of scikit-learn, with intervals. `python examples/estimators.py`"""

from __future__ import annotations

from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from pmm.sklearn import PMMRegressor


def main() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    train, test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = PMMRegressor(steps=300).fit(train, y_train)
    quantiles = model.predict_quantiles(test, [0.05, 0.95])
    covered = ((quantiles[:, 0] <= y_test) & (y_test <= quantiles[:, 1])).mean()
    print(f"R² {model.score(test, y_test):.2f}; {100 * covered:.0f} % within intervals of 90 %")


if __name__ == "__main__":
    main()
