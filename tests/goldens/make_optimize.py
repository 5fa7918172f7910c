"""Writes optimize.txt: every field of SciPy's results that nax has too.

- least_squares.<loss>.<bounds>/x, fun, jac, grad, cost, active_mask: a decay fitted to data with outliers.
- curve_fit.<loss>.<sigma>/popt, pcov: the same data; sigma is none, relative, absolute or a covariance.
- minimize.<problem>/x, fun, jac; with constraints /multipliers of fun + sum(multipliers * constraints) as well.
- root.<problem>/x, fun, success: `success` is 1 where one of SciPy's hybr, broyden1 and krylov finds a root.
- solve_ivp/t, y, t_events, y_events, sol, status: Lotka and Volterra's equations to 12 digits; odeint/y; quad.<case>/value.
- line_search/alpha, new_fval, new_slope: a step that meets Wolfe's conditions at once.
- linear_sum_assignment/rows, columns.
"""

import warnings

import goldens  # noqa: F401
import numpy as np
from scipy import integrate, optimize

warnings.simplefilter("ignore")
writer = goldens.Writer("optimize")

t = 0.5 * np.arange(10)
y = np.array([2.1, 1.3, 0.9, 1.1, 0.35, 0.2, 0.15, -0.1, 0.06, 0.02])
tight = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-14, "max_nfev": 20000}


def model(t, a, b, c):
    return a * np.exp(-b * t) + c


def model_jac(t, a, b, c):
    e = np.exp(-b * t)
    return np.stack([e, -a * t * e, np.ones_like(t)], axis=1)


for loss in ("linear", "huber", "soft_l1", "cauchy", "arctan"):
    for name, bounds in {"free": ([-np.inf] * 3, [np.inf] * 3), "bounded": ([0, 0, 0.1], [2, 3, 1])}.items():
        fit = optimize.least_squares(
            lambda p: model(t, *p) - y, [1, 1, 0.5], lambda p: model_jac(t, *p), bounds=bounds,
            method="dogbox" if name == "bounded" else "trf", loss=loss, f_scale=0.1, **tight)
        for field in ("x", "fun", "jac", "cost"):
            writer.put(f"least_squares.{loss}.{name}/{field}", fit[field])
        writer.put(f"least_squares.{loss}.{name}/active_mask", fit.active_mask.astype(np.int32))
        if name == "bounded":  # dogbox gives zeros for some parameters at their bounds
            fit = optimize.least_squares(
                lambda p: model(t, *p) - y, fit.x, lambda p: model_jac(t, *p), loss=loss, f_scale=0.1, max_nfev=1)
        writer.put(f"least_squares.{loss}.{name}/grad", fit.grad)

spread = 0.1 + 0.05 * np.arange(10)
covariance = np.diag(spread**2) + 0.001
for loss in ("linear", "huber", "soft_l1", "cauchy", "arctan"):
    for name, sigma, absolute in (("none", None, False), ("relative", spread, False), ("absolute", spread, True),
                                  ("covariance", covariance, True)):
        popt, pcov = optimize.curve_fit(model, t, y, [2, 1, 0], sigma, absolute, jac=model_jac, method="trf", loss=loss,
                                        f_scale=0.1 if sigma is None else 1, **tight)
        writer.put(f"curve_fit.{loss}.{name}/popt", popt)
        writer.put(f"curve_fit.{loss}.{name}/pcov", pcov)


def record_minimum(name, f, jac, x0, **options):
    found = optimize.minimize(f, x0, jac=jac, **options)
    writer.put(f"minimize.{name}/x", found.x)
    writer.put(f"minimize.{name}/fun", found.fun)
    writer.put(f"minimize.{name}/jac", jac(found.x))
    return found


record_minimum("rosenbrock", optimize.rosen, optimize.rosen_der, [-1.2, 1, 0.5], method="BFGS", options={"gtol": 1e-12})
record_minimum("rosenbrock.bounded", optimize.rosen, optimize.rosen_der, [0.2, 0.4, 0.1], method="L-BFGS-B",
               bounds=[(0, 0.5), (-1, 1), (-1, 1)], options={"ftol": 1e-18, "gtol": 1e-12})
found = record_minimum(
    "rosenbrock.constrained", optimize.rosen, optimize.rosen_der, [0.5, 0.4, 0.1], method="SLSQP",
    constraints=[{"type": "eq", "fun": lambda x: x[0] + x[1] - 1, "jac": lambda x: np.array([1.0, 1, 0])},
                 {"type": "ineq", "fun": lambda x: 0.25 - x[2] - x[1], "jac": lambda x: np.array([0.0, -1, -1])}],
    options={"ftol": 1e-18, "maxiter": 1000})
normals = np.array([[1.0, 1, 0], [0, -1, -1]])
active = [0, 1] if abs(0.25 - found.x[2] - found.x[1]) < 1e-8 else [0]
multipliers = np.zeros(2)
multipliers[active] = np.linalg.lstsq(normals[active].T, -optimize.rosen_der(found.x), rcond=None)[0]
writer.put("minimize.rosenbrock.constrained/multipliers", multipliers)

for name, f, x0 in (
        ("circles", lambda x: np.array([x[0] + x[1] ** 2 - 4, x[0] ** 2 - x[1] - 2]), [1.0, 1]),
        ("none", lambda x: x * x + 1, [1.0]),
        ("none.away", lambda x: x * x + 1, [1.5]),
        ("constant", lambda x: 0 * x + 1, [0.5]),
        ("contradiction", lambda x: np.array([x[0] + x[1] - 1, x[0] + x[1] - 2]), [0.3, 0.2]),
        ("exponential", lambda x: np.exp(x) + x * x, [1.0]),
):
    best = None
    for method in ("hybr", "broyden1", "krylov"):
        try:
            found = optimize.root(f, np.array(x0), method=method)
            if found.success and np.abs(f(found.x)).max() < 1e-5 and best is None:
                best = found
        except (ValueError, OverflowError, np.linalg.LinAlgError):
            pass
    writer.put(f"root.{name}/success", np.int32(best is not None))
    if best is not None:
        polished = optimize.root(f, best.x, tol=1e-15)
        writer.put(f"root.{name}/x", polished.x)
        writer.put(f"root.{name}/fun", f(polished.x))


def field(t, y):
    return [1.5 * y[0] - y[0] * y[1], 0.5 * y[0] * y[1] - 1.2 * y[1]]


at = np.array([0, 0.5, 1.25, 3])
found = integrate.solve_ivp(field, (0, 3), [2.0, 1], "DOP853", at, True, lambda t, y: y[0] - y[1], rtol=1e-13, atol=1e-14)
for name in ("t", "y"):
    writer.put(f"solve_ivp/{name}", found[name])
writer.put("solve_ivp/t_events", found.t_events[0])
writer.put("solve_ivp/y_events", found.y_events[0].T)
writer.put("solve_ivp/sol", found.sol(0.8))
writer.put("solve_ivp/status", np.int32(found.status))
writer.put("odeint/y", integrate.odeint(lambda y, t: field(t, y), [2.0, 1], at, rtol=1e-12, atol=1e-13))
writer.put("quad.sine/value", integrate.quad(np.sin, 0.5, 2)[0])
writer.put("quad.normal/value", integrate.quad(lambda x: np.exp(-x * x), -np.inf, 1)[0])

alpha, _, _, value, _, slope = optimize.line_search(
    lambda x: ((x - 1) ** 2).sum(), lambda x: 2 * (x - 1), np.array([3.0, 0]), np.array([-2.0, 1]))
writer.put("line_search/alpha", alpha)
writer.put("line_search/new_fval", value)
writer.put("line_search/new_slope", np.dot(slope, [-2.0, 1]))
rows, columns = optimize.linear_sum_assignment(goldens.grid(1, (4, 5)))
writer.put("linear_sum_assignment/in0", goldens.grid(1, (4, 5)))
writer.put("linear_sum_assignment/rows", rows)
writer.put("linear_sum_assignment/columns", columns)
writer.save()
