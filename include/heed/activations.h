/* heed/activations.h -- the list of activations, one row each, from which the enum, the kernels,
 * the ops, their checks and the program's choices are generated. */
#ifndef HEED_ACTIVATIONS_H
#define HEED_ACTIVATIONS_H

/* X(enumerator, name of the op, setting, SLOPE, f, f', from, to, kinks)
 *   setting  "|name" if a setting may choose it for hidden layers, else ""
 *   SLOPE    VALUE if f' is a function of y = f(x), so that only y is kept; INPUT if of x
 *   f, f'    expressions of vectors and functions of src/kernels/vmath.h; `one`, `half`: constants
 *   from, to the range of x in the gradient check
 *   kinks    where f' is discontinuous: "0" or "-1 1", or NULL
 * Sources: GELU, its tanh form and SiLU: Hendrycks & Gimpel 2016, sec. 2. */
/* clang-format off */
#define HEED_ACTIVATIONS(X) \
    X(HEED_IDENTITY, identity, "|identity", VALUE, x, one, -1, 1, NULL) \
    X(HEED_RELU, relu, "|relu", VALUE, vmax(splat(0), x), pick(lt(splat(0), y), one, splat(0)), -1, 1, "0") \
    X(HEED_GELU, gelu, "|gelu", INPUT, vgelu(x), vgelu_slope(x), -6, 6, NULL) /* x Phi(x) */ \
    X(HEED_GELU_TANH, gelu_tanh, "|gelu-tanh", INPUT, vgelu_tanh(x), vgelu_tanh_slope(x), -6, 6, NULL) \
    X(HEED_SILU, silu, "|silu", INPUT, x * vsigmoid(x), vsilu_slope(x), -6, 6, NULL) /* x sigmoid(x) */ \
    X(HEED_TANH, tanh, "|tanh", VALUE, vtanh(x), one - y * y, -4, 4, NULL) \
    X(HEED_SIGMOID, sigmoid, "|sigmoid", VALUE, vsigmoid(x), y * (one - y), -6, 6, NULL) \
    X(HEED_EXP, exp, "", VALUE, vexp(x), y, -3, 3, NULL) \
    X(HEED_LOG, log, "", INPUT, vlog(x), one / x, 0.5, 3, NULL) \
    X(HEED_SQRT, sqrt, "", VALUE, vsqrt(x), half / y, 0.5, 3, NULL)
/* clang-format on */

#endif
