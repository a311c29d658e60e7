"""Optimizers, clipping and schedules of the learning rate."""
import ctypes
import math
from ctypes import byref

from . import _c
from ._library import DivergedError, Owner, UsageError, check_range, choice, filled, lib, text, text_bytes


def settings_of(rule):
    """The settings of the optimizer at an address."""
    setting = _c.heed_optimizer.from_address(rule).settings
    while (found := _c.heed_optim_setting.from_address(setting)).name:
        yield found
        setting += ctypes.sizeof(_c.heed_optim_setting)


class Optimizer(Owner):
    """An optimizer by its name (adamw, adam, muon, lion, sgd, momentum, nesterov, rmsprop, gd). Settings: lr, decay, momentum, alpha,
    beta1, beta2, eps, muon_momentum, muon_iterations; an optimizer refuses those that it does not use. Defaults are PyTorch's where it has the optimizer."""

    def __init__(self, net, name, **settings):
        rule = lib.heed_optimizer_named(text_bytes(name, "name"))
        if not rule:
            raise UsageError(f'"{name}" is not the name of an optimizer')
        args, fields = lib.heed_optim_defaults(rule), dict(_c.heed_optim_args._fields_)
        extra = {}  # settings that this optimizer alone has
        for setting in settings_of(rule):
            if setting.at >= _c.heed_optim_args.extra.offset:
                extra[text(setting.name).replace("-", "_")] = (setting.at - _c.heed_optim_args.extra.offset) // ctypes.sizeof(ctypes.c_float)
        for key, value in settings.items():
            value = check_range(key, value, -math.inf, math.inf, float)
            if key in extra:
                args.extra[extra[key]] = value
            elif key in fields:
                setattr(args, key, value)
            else:
                raise TypeError(f"{key!r} is not a setting of an optimizer")
        self.net, self.name = net, name
        self.pointer = net.context.made(lib.heed_optim_new(net.store, rule, byref(args)), name)

    def step(self, scale=1.0):
        """One update of all trained parameters with the learning rate lr * scale; gradients are zero afterwards. A gradient that is not finite
        raises DivergedError before any value changes."""
        try:
            self.net.context.made(lib.heed_optim_step(self.pointer, scale), self.name)
        except DivergedError as e:
            raise DivergedError(str(e).partition("; hint:")[0] + "; hint: a smaller lr, or optimizer.clip(1.0) before each step") from None

    def clip(self, most, scale=1.0):
        """In the next step, gradients are multiplied by scale, and then scaled so that their norm is at most `most` (0: no limit). Returns the
        norm after scale and before the limit."""
        norm = lib.heed_clip_grad_norm(self.pointer, check_range("most", most, 0, math.inf, float), scale)
        self.net.context.check()
        return norm

    def __del__(self):
        if getattr(self, "pointer", None) and self.net.context.pointer:  # else the context has freed it
            lib.heed_optim_free(self.pointer)

    def __repr__(self):
        return f"<heed.Optimizer {self.name}>"


def named(name):
    """A function that makes this optimizer."""
    def make(net, **settings):
        return Optimizer(net, name, **settings)
    rule = _c.heed_optimizer.from_address(lib.heed_optimizer_named(name.encode()))
    make.__doc__ = f"{text(rule.help)}. See Optimizer."
    make.__name__ = name
    return make


SGD, Momentum, Nesterov, RMSprop, Adam, AdamW, Muon, Lion = map(named, ("sgd", "momentum", "nesterov", "rmsprop", "adam", "adamw", "muon", "lion"))


class Schedule:
    """The factor of the learning rate for each update, for Optimizer.step: schedule(step), step from 0. kind: constant, cosine or linear
    (from 1 to floor over `steps` updates), invsqrt (sqrt(warmup / (step + 1))), step (times gamma after every `every` updates).
    During the first `warmup` updates it is (step + 1) / warmup."""

    def __init__(self, kind, steps=0, warmup=0, floor=0.0, every=0, gamma=0.0):
        self.args = filled(_c.heed_schedule, kind=choice("heed_schedule_kind", kind), steps=steps, warmup=warmup, floor=floor,
                           every=every, gamma=gamma)

    def __call__(self, step):
        return lib.heed_schedule_at(byref(self.args), step)
