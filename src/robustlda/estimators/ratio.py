"""The paper's method: robust linear discriminant analysis by a ratio of lengths."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_random_state

from robustlda import losses
from robustlda.data import Samples
from robustlda.estimators import _validation as validation
from robustlda.estimators._iterative import RatioProjection
from robustlda.linalg import Array
from robustlda.losses import Loss
from robustlda.solvers import robust_lda, starts
from robustlda.solvers.result import SolverResult


class RatioLDA(RatioProjection):
    r"""The paper's robust LDA (rLDA): a ratio of :math:`\ell_{1,2}`-norms, literally.

    Finds the orthonormal projection :math:`W` and class centers :math:`\mu_i` that minimize

    .. math:: J(W, \mu) = \frac{\sum_j \|W^\top (x_j - \mu_{y_j})\|}
                               {\sum_j \|x_j\| - \sum_j \|x_j - W W^\top x_j\|}, \qquad W^\top W = I,

    on centered samples. Lengths are not squared, so that a sample far from its class, an outlier or one with a
    wrong label, pulls less than in classical LDA. :math:`J` never rises from one iteration to the next. ``RatioLDA()``
    projects as published: from a start that follows the labels, and with every sample at its full weight (predictions
    in the paper are those of 1-NN behind it); the parameters lead away from that. It depends on the units of the
    features: scale tables first, for example with ``StandardScaler``. For a projection that wrong labels do not turn,
    and a classifier, see :class:`RobustLDA`.

    Parameters
    ----------
    n_components : int, default=None
        Dimension of the projection, below the rank of the data; ``3 * n_classes`` if None, or where that exceeds the
        rank the whole space, of which the projection is then a rotation.
    loss : {"l12", "squared", "lp", "capped", "welsch", "cauchy"} or Loss, default="l12"
        What a length counts for: the length itself in the paper ("l12"); its square, which is trace-ratio LDA; a
        power; or a function that levels off, so that far samples lose all influence. Objects from
        `robustlda.losses` carry their own settings.
    exponent : float, default=1.0
        The q of N^q/g, between 1 (the paper) and 2, which follows the labels more closely. Above 1 only with the
        losses "l12", "lp" and "capped".
    init : {"trace_ratio", "pca", "random", "best"} or array of shape (n_components, n_features), default="trace_ratio"
        Where to start. Several basins exist. The principal axes owe nothing to the labels, right or wrong, lead to a
        lower J on most data, and classify better with a rule that averages over a class; trace-ratio LDA starts where
        the given labels are separated best, which suits nearest neighbors on clean labels. "best" tries the three
        named starts and keeps the lowest J.
    decision : {"centroid", "noise_aware", None}, default="centroid"
        Rule that predicts. "noise_aware" weighs clouds with latent true labels and a local rule in the projected
        space, and a linear rule on the features, by how well they predict labels of which some are wrong, and
        estimates how many are; with more dimensions than a fifth of the distinct samples, where a projection has
        memorized all labels, clouds and local rule work along principal axes instead. "centroid" has robust class
        centers with one shared scatter, in the projected space alone. None leaves a pure transformer.
    center : {"mean", "median"}, default="mean"
        The point from which lengths are measured; the (geometric) median withstands outliers.
    leverage : {"bounded", "free"}, default="free"
        A single sample far away can turn the projection towards itself, whatever the loss. If "bounded", a sample at
        more than three times the median distance from its class weighs less, by the fourth power of the excess.
        "free", as in the paper, leaves every sample its weight.
    priors : array-like of shape (n_classes,), default=None
        Class probabilities for the decision; the shares in the training data if None.
    solver : {"auto", "plain"}, default="auto"
        "plain" takes the paper's steps one by one; "auto" reaches the same kind of point in fewer of them, by
        longer strides, and in many dimensions by way of small subspaces.
    tol : float, default=1e-6
        Stop when J changes by no more than this, relative to its size.
    max_iter : int, default=200
        Most iterations.
    random_state : int, RandomState instance or None, default=None
        For the random start.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows, the most discriminant first; the entry of largest magnitude in each is positive.
    center_ : ndarray of shape (n_features,)
        What `transform` subtracts.
    class_centers_ : ndarray of shape (n_classes, n_features)
        Robust class centers.
    objective_path_ : ndarray
        J at the start and after every iteration; never rises.
    stationarity_ : float
        Relative length of the gradient of J at the end.
    stop_reason_ : str
        Why the iteration stopped.
    n_iter_ : int
        Iterations.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    priors_ : ndarray of shape (n_classes,)
        Class probabilities the decision uses; with "noise_aware" the estimated true ones, unless given.
    rule_ : object
        The fitted decision rule.
    noise_rate_ : float
        Estimated share of wrong labels, or answers, in the training data. Only with ``decision="noise_aware"``, as
        the next three.
    transition_ : ndarray of shape (n_classes, n_classes)
        Estimated probability that a sample of the row's class is given the column's label.
    likelihood_path_ : ndarray
        Logarithm of the likelihood of the given labels, with its prior, as rules are weighed; never falls, but for
        several answers per sample, where what is judged is left out.
    annotator_confusion_ : ndarray of shape (n_annotators, n_classes, n_classes)
        Where y held several answers per sample: estimated probability that this annotator calls a sample of the row's
        class like the column.
    coef_, intercept_ : ndarray of shape (n_classes, n_features) and (n_classes,), or (1, n_features) and (1,)
        With ``decision="centroid"``, the linear scores of `decision_function`; other decisions are not linear.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X was a DataFrame whose columns have names.

    References
    ----------
    Nie, Wang, Wang, Huang, "Robust linear discriminant analysis using ratio minimization of l1,2-norms", 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from robustlda import RatioLDA
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RatioLDA(n_components=2).fit(X, y)
    >>> model.transform(X).shape
    (150, 2)
    >>> bool((model.objective_path_[1:] <= model.objective_path_[:-1]).all())
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        loss: str | Loss = "l12",
        exponent: float = 1.0,
        init: str | Array = "trace_ratio",
        decision: str | None = "centroid",
        center: str = "mean",
        leverage: str = "free",
        priors: Any = None,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 200,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.loss = loss
        self.exponent = exponent
        self.init = init
        self.decision = decision
        self.center = center
        self.leverage = leverage
        self.priors = priors
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        most = min(2.0, losses.resolve(self.loss).max_exponent)
        if not (isinstance(self.exponent, Real) and 1 <= self.exponent <= most):
            bound = f"lie between 1 and {most:g}" if most > 1 else "be 1"
            other = "" if most > 1 else " For exponents up to 2 use loss='l12' or 'capped'."
            raise ValueError(
                f"exponent={self.exponent!r} must {bound} with loss={self.loss!r}; with a larger one J may rise.{other}"
            )
        validation.check_choice("solver", self.solver, ("auto", "plain"))
        validation.check_seed(self.random_state)
        if isinstance(self.init, str):
            validation.check_choice("init", self.init, (*starts.NAMED, "best"), ", or an array")

    def _begin(self) -> tuple[robust_lda.Start, ...]:
        """Starts to try, arrays not yet checked."""
        return starts.NAMED if isinstance(self.init, str) and self.init == "best" else (self.init,)

    def _least_shift(self) -> float:
        return robust_lda.least_shift(self.plan, self._begin())

    def _solve(self, samples: Samples, n_components: int) -> SolverResult:
        how = robust_lda.Descent(
            losses.resolve(self.loss), self.exponent, self.tol, self.max_iter, accelerate=self.solver == "auto"
        )
        begin = self._begin() if isinstance(self.init, str) else (self._start(n_components),)
        return robust_lda.solve(samples, n_components, begin, how, check_random_state(self.random_state))

    def _start(self, n_components: int) -> Array:
        expected = (n_components, self.n_features_in_)
        if np.shape(self.init) != expected:
            raise ValueError(f"init has shape {np.shape(self.init)}, but the projection has shape {expected}.")
        return check_array(self.init, dtype=np.float64, input_name="init")
