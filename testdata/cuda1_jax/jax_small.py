# a small loop for testdata: three layers, four steps recorded
import jax, jax.numpy as jnp, time
def loss(w, x):
    for i in range(3):
        with jax.named_scope(f'layer_{i}'): x = jnp.tanh(x @ w[i])
    return (x**2).mean()
@jax.jit
def train_step(w, x):
    v, g = jax.value_and_grad(loss)(w, x)
    return [a - .01*b for a, b in zip(w, g)], v
w = [jnp.ones((512, 512))*.01]*3; x = jnp.ones((256, 512))
def load(): time.sleep(.001)
for i in range(40):
    load(); w, v = train_step(w, x); float(v)
