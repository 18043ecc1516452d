"""A small training loop for the workflow beside it: put your own in its place."""
import jax
import jax.numpy as jnp


def loss(weights, batch):
    x = batch
    for i, w in enumerate(weights):
        with jax.named_scope(f'layer{i}'):
            x = jnp.tanh(x @ w)
    return jnp.mean(x * x)


@jax.jit
def train_step(weights, batch):
    return [w - 0.1 * g for w, g in zip(weights, jax.grad(loss)(weights, batch))]


def main(steps=60, size=256):
    weights = [jnp.eye(size) for _ in range(3)]
    batch = jnp.ones((64, size))
    for step in range(steps):
        with jax.profiler.StepTraceAnnotation('train', step_num=step):
            weights = jax.block_until_ready(train_step(weights, batch))


if __name__ == '__main__':
    main()
