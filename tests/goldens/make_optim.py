"""Optimisers and schedules of optax: three parameters, ten steps with gradients that depend on parameters and step.

`<optimiser>/in0`, `in1`: the parameters w (2, 3) and b (3,) before; `<optimiser>/out0`, `out1`: after ten steps, in which
the gradient of a parameter p at step k is 2 p - 0.25 (k - 4). `schedule/<name>`: the values at steps 0 to 29.
"""

import goldens
import jax.numpy as jnp
import numpy as np
import optax
import optax.contrib

out = goldens.Writer("optim")
W, B = goldens.grid(1, (2, 3)).astype(np.float32), goldens.grid(2, (3,)).astype(np.float32)

def rprop(rate, most):
    """PyTorch's Rprop, on arrays one by one: optax's takes each step one call later."""
    def update(grads, state, params):
        sizes, before = state
        turns = [g * b for g, b in zip(grads, before)]
        sizes = [jnp.clip(s * jnp.where(t > 0, 1.2, jnp.where(t < 0, 0.5, 1.0)), 1e-6, most) for s, t in zip(sizes, turns)]
        steps = [jnp.where(t < 0, 0.0, s * jnp.sign(g)) for s, t, g in zip(sizes, turns, grads)]
        return tuple(-s for s in steps), (sizes, steps)
    return optax.GradientTransformation(lambda p: ([jnp.full_like(x, rate) for x in p], [jnp.zeros_like(x) for x in p]), update)


OPTIMISERS = {
    "sgd": optax.sgd(0.1),
    "sgd.momentum=0.9": optax.sgd(0.1, momentum=0.9),
    "sgd.momentum=0.9.nesterov": optax.sgd(0.1, momentum=0.9, nesterov=True),
    "sgd.schedule": optax.sgd(optax.exponential_decay(0.2, 5, 0.5)),
    "adam": optax.adam(0.1),
    "adam.b1=0.8.b2=0.9.eps=1e-3": optax.adam(0.1, b1=0.8, b2=0.9, eps=1e-3),
    "adam.schedule": optax.adam(optax.cosine_decay_schedule(0.1, 8)),
    "adamw": optax.adamw(0.1),
    "adamw.weight_decay=0.1": optax.adamw(0.1, weight_decay=0.1),
    "rmsprop": optax.rmsprop(0.1),
    "rmsprop.momentum=0.9": optax.rmsprop(0.01, momentum=0.9),
    "rmsprop.eps_in_sqrt=false.nesterov": optax.rmsprop(0.01, eps=1e-3, eps_in_sqrt=False, momentum=0.9, nesterov=True),
    "adagrad": optax.adagrad(0.5),
    "lion": optax.lion(0.05),
    "nadam": optax.nadam(0.1),
    "nadamw": optax.nadamw(0.1, weight_decay=0.1),
    "adamax": optax.adamax(0.1),
    "adamaxw": optax.adamaxw(0.1, weight_decay=0.1),
    "adabelief": optax.adabelief(0.1),
    "yogi": optax.yogi(0.1),
    "radam": optax.radam(0.1, b2=0.9, eps=1e-3),
    "amsgrad": optax.amsgrad(0.1, b2=0.5),
    "lamb": optax.lamb(0.1, weight_decay=0.1),
    "lars": optax.lars(0.1, weight_decay=0.1, trust_coefficient=0.1),
    "muon": optax.contrib.muon(0.1, weight_decay=0.1),
    "adafactor": optax.adafactor(0.1),
    "adafactor.factored": optax.adafactor(0.1, min_dim_size_to_factor=2, multiply_by_parameter_scale=False),
    "adadelta": optax.adadelta(2.0, rho=0.8, eps=1e-3, weight_decay=0.1),
    "rprop": rprop(0.1, 0.15),
    "sm3": optax.sm3(0.1),
    "prodigy": optax.contrib.prodigy(1.0, estim_lr0=1e-2, weight_decay=0.1),
    "prodigy.schedule": optax.contrib.prodigy(optax.linear_schedule(1.0, 0.5, 8), beta3=0.9, estim_lr0=1e-2, estim_lr_coef=2.0,
                                              safeguard_warmup=True),
    "schedule_free_sgd": optax.contrib.schedule_free_sgd(0.1, warmup_steps=4, weight_decay=0.1),
    "schedule_free_adamw": optax.contrib.schedule_free_adamw(0.1, b1=0.8, weight_decay=0.1),
    "sam": optax.contrib.sam(optax.adam(0.1), optax.chain(optax.contrib.normalize(), optax.sgd(0.3))),
    "sam.sync_period=3": optax.contrib.sam(optax.sgd(0.1, momentum=0.9), optax.adam(0.05), sync_period=3, reset_state=False),
    "centralize.sgd": optax.chain(optax.centralize(), optax.sgd(0.1)),
    "adaptive_grad_clip.sgd": optax.chain(optax.adaptive_grad_clip(0.5, eps=0.1), optax.sgd(0.1)),
    "chain.ema.scale": optax.chain(optax.ema(0.9), optax.scale(-0.3)),
    "chain.clip_by_block_rms=0.5.sgd": optax.chain(optax.clip_by_block_rms(0.5), optax.sgd(0.1)),
    "multi_steps=3.adam": optax.MultiSteps(optax.adam(0.1), 3),
    "masked.adam": optax.chain(optax.masked(optax.scale_by_adam(), (True, False)), optax.scale(-0.1)),
    "multi_transform": optax.multi_transform({"w": optax.adam(0.1), "b": optax.sgd(0.2)}, ("w", "b")),
    "apply_if_finite": optax.apply_if_finite(optax.adam(0.1), 2),
    "chain.clip_by_global_norm=1.sgd": optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.3)),
    "chain.clip=0.5.adam": optax.chain(optax.clip(0.5), optax.adam(0.1)),
    "chain.add_decayed_weights=0.1.sgd": optax.chain(optax.add_decayed_weights(0.1), optax.sgd(0.1)),
}
for name, optimiser in OPTIMISERS.items():
    params = (jnp.asarray(W), jnp.asarray(B))
    state = optimiser.init(params)
    for k in range(10):
        grads = tuple(2 * p - 0.25 * (k - 4) for p in params)
        updates, state = optimiser.update(grads, state, params)
        params = optax.apply_updates(params, updates)
    out.case(name, (W, B), tuple(map(np.asarray, params)))
# Two copies of the parameters: gradients are those of the fast ones.
params = optax.LookaheadParams((jnp.asarray(W), jnp.asarray(B)), (jnp.asarray(W), jnp.asarray(B)))
optimiser = optax.lookahead(optax.sgd(0.1), sync_period=4, slow_step_size=0.5)
state = optimiser.init(params)
for k in range(10):
    grads = tuple(2 * p - 0.25 * (k - 4) for p in params.fast)
    updates, state = optimiser.update(grads, state, params)
    params = optax.apply_updates(params, updates)
out.case("lookahead", (W, B), tuple(map(np.asarray, params.fast + params.slow)))
# A value after each step's parameters: it falls, rests and falls.
params = (jnp.asarray(W), jnp.asarray(B))
optimiser = optax.chain(optax.sgd(0.1), optax.contrib.reduce_on_plateau(factor=0.5, patience=2, cooldown=1))
state = optimiser.init(params)
for k in range(10):
    grads = tuple(2 * p - 0.25 * (k - 4) for p in params)
    updates, state = optimiser.update(grads, state, params, value=[5.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 3.0, 3.0, 3.0][k])
    params = optax.apply_updates(params, updates)
out.case("reduce_on_plateau", (W, B), tuple(map(np.asarray, params)))
# Gradients of two examples, p and 2 p.
params = (jnp.asarray(W), jnp.asarray(B))
optimiser = optax.contrib.dpsgd(0.1, 1.5, 0.5, seed=3, momentum=0.9)
state = optimiser.init(params)
for k in range(10):
    updates, state = optimiser.update(tuple(jnp.stack([p, 2 * p]) for p in params), state, params)
    params = optax.apply_updates(params, updates)
out.case("dpsgd", (W, B), tuple(map(np.asarray, params)))
# The averages of schedule_free, after ten steps.
params = (jnp.asarray(W), jnp.asarray(B))
optimiser = optax.contrib.schedule_free_sgd(0.1)
state = optimiser.init(params)
for k in range(10):
    updates, state = optimiser.update(tuple(2 * p - 0.25 * (k - 4) for p in params), state, params)
    params = optax.apply_updates(params, updates)
out.case("schedule_free_eval_params", (W, B), tuple(map(np.asarray, optax.contrib.schedule_free_eval_params(state, params))))
out.put("global_norm", np.asarray(optax.global_norm((jnp.asarray(W), jnp.asarray(B)))))

SCHEDULES = {
    "constant": optax.constant_schedule(0.1),
    "linear": optax.linear_schedule(1.0, 0.1, 10, transition_begin=5),
    "polynomial": optax.polynomial_schedule(1.0, 0.1, 2, 20),
    "exponential": optax.exponential_decay(1.0, 4, 0.5, transition_begin=3),
    "exponential.staircase.end": optax.exponential_decay(1.0, 4, 0.5, staircase=True, end_value=0.1),
    "cosine": optax.cosine_decay_schedule(0.5, 20, alpha=0.1, exponent=2),
    "warmup_cosine": optax.warmup_cosine_decay_schedule(0.0, 1.0, 5, 25, end_value=0.1),
    "piecewise": optax.piecewise_constant_schedule(1.0, {5: 0.5, 20: 0.1}),
    "join": optax.join_schedules([optax.linear_schedule(0.0, 1.0, 5), optax.exponential_decay(1.0, 4, 0.5)], [7]),
    "warmup_constant": optax.warmup_constant_schedule(0.0, 1.0, 6),
    "warmup_exponential": optax.warmup_exponential_decay_schedule(0.0, 1.0, 5, 4, 0.5, end_value=0.1),
    "sgdr": optax.sgdr_schedule([dict(init_value=0.0, peak_value=1.0, warmup_steps=2, decay_steps=8, end_value=0.1),
                                 dict(init_value=0.1, peak_value=0.5, warmup_steps=3, decay_steps=12)]),
    "piecewise_linear": optax.piecewise_interpolate_schedule("linear", 1.0, {5: 0.5, 20: 0.1}),
    "piecewise_cosine": optax.piecewise_interpolate_schedule("cosine", 1.0, {5: 0.5, 20: 0.1}),
    "linear_onecycle": optax.linear_onecycle_schedule(25, 1.0),
    "cosine_onecycle": optax.cosine_onecycle_schedule(25, 1.0),
}
for name, schedule in SCHEDULES.items():
    out.put(f"schedule/{name}", np.array([schedule(k) for k in range(30)], np.float32))
out.save()
