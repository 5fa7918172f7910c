"""examples/cart_pole.cpp in CasADi, by Ipopt: python3 cart_pole.py"""

import time

import casadi as ca
import numpy as np

intervals, duration = 100, 2.0
step = duration / intervals
cart, pole, length, gravity = 1, 0.3, 0.5, 9.81


def motion(row):
    angle, speed, turning, force = row[1], row[2], row[3], row[4]
    sine, cosine = ca.sin(angle), ca.cos(angle)
    swing = length * pole * sine * turning**2
    mass = cart + pole * sine**2
    push = (swing + force + pole * gravity * cosine * sine) / mass
    turn = -(swing * cosine + force * cosine + (cart + pole) * gravity * sine) / (length * mass)
    return ca.vertcat(speed, turning, push, turn)


x = ca.SX.sym("x", 5, intervals + 1)
effort, rules = 0, []
for k in range(intervals):
    effort += step / 2 * (x[4, k] ** 2 + x[4, k + 1] ** 2)
    rules.append(x[:4, k + 1] - x[:4, k] - step / 2 * (motion(x[:, k]) + motion(x[:, k + 1])))
rules += [x[:4, 0], x[:4, intervals] - ca.vertcat(1, np.pi, 0, 0)]
part = np.linspace(0, 1, intervals + 1)
guess = np.stack([part, np.pi * part, 0 * part, 0 * part, 0 * part]).T.reshape(-1)
most = np.tile([2, np.inf, np.inf, np.inf, 20], intervals + 1)

began = time.perf_counter()
solver = ca.nlpsol("solver", "ipopt", {"x": ca.vec(x), "f": effort, "g": ca.vertcat(*rules)},
                   {"ipopt.print_level": 0, "print_time": False})
built = time.perf_counter()
for _ in range(3):
    begin = time.perf_counter()
    found = solver(x0=guess, lbx=-most, ubx=most, lbg=0, ubg=0)
    spent = time.perf_counter() - begin
    print(f"effort {float(found['f']):.4f}, {solver.stats()['iter_count']} steps, {1e3 * spent:.0f} ms")
print(f"built in {1e3 * (built - began):.0f} ms")
