"""PyTorch programs with one planted cause each, as people write them: torch_planted.py CAUSE [STEPS]. They know nothing of idsprof."""
import gc
import sys
import time

import numpy as np
import torch
from torch import nn

WIDTH, LAYERS, BATCH, LOADED = 1024, 6, 8192, 512


def model():
    layers = []
    for _ in range(LAYERS):
        layers += [nn.Linear(WIDTH, WIDTH), nn.GELU()]
    return nn.Sequential(*layers).cuda()


class Images(torch.utils.data.Dataset):
    def __init__(self, slow):
        self.slow = slow
        self.data = np.random.rand(LOADED, WIDTH).astype(np.float32)

    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        if self.slow and index % 64 == 0:
            time.sleep(0.002)
        return self.data[index % LOADED]


class Training:
    """The device computes for some milliseconds, and the host is ahead of it unless something keeps it."""

    batch_size = BATCH

    def __init__(self):
        self.net = model()
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=1e-4)
        self.batch = torch.randn(self.batch_size, WIDTH, device='cuda')
        self.prepare()

    def prepare(self):
        pass

    def load(self):
        return self.batch

    def forward(self, batch):
        return self.net(batch).pow(2).mean()

    def train_step(self, batch):
        loss = self.forward(batch)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss

    def after(self, loss):
        pass


class LoaderSleep(Training):
    def prepare(self):
        self.loader = iter(torch.utils.data.DataLoader(Images(True), batch_size=LOADED))

    def load(self):
        return next(self.loader).cuda()


class Augment(Training):
    def load(self):
        return self.augment()

    def augment(self):
        total, end = 0, time.perf_counter() + 0.015
        while time.perf_counter() < end:
            total += sum(i & 3 for i in range(200))
        return self.batch


class Item(Training):
    """The loss of each of 40 small batches is read."""

    def after(self, loss):
        for _ in range(20):
            self.log_loss((self.batch @ self.net[0].weight).mean())

    def log_loss(self, value):
        return value.item()


class Pageable(Training):
    def prepare(self):
        self.host = np.random.rand(16384, WIDTH).astype(np.float32)

    def load(self):
        return self.upload()

    def upload(self):
        return torch.from_numpy(self.host).cuda()[:self.batch_size]


class SmallOps(Training):
    """An optimizer written by hand, one parameter after the other."""

    batch_size = 256

    def prepare(self):
        self.weights = [torch.zeros(256, device='cuda') for _ in range(300)]

    def after(self, loss):
        self.sgd_by_hand()

    def sgd_by_hand(self):
        for weight in self.weights:
            weight.mul_(0.999)
            weight.add_(1e-3)
            weight.clamp_(-1, 1)


class Collect(Training):
    def prepare(self):
        self.nodes = [[] for _ in range(100000)]

    def after(self, loss):
        self.free_memory()

    def free_memory(self):
        for _ in range(3):
            gc.collect()


class EmptyCache(Training):
    def after(self, loss):
        self.give_memory_back()

    def give_memory_back(self):
        torch.cuda.empty_cache()


class Synchronize(Training):
    """A training loop that times itself: it waits behind each layer."""

    def forward(self, batch):
        for layer in self.net:
            batch = layer(batch)
            self.layer_time()
        return batch.pow(2).mean()

    def layer_time(self):
        torch.cuda.synchronize()
        return time.perf_counter()


class Compute(Training):
    batch_size = 65536


CAUSES = {'loader_sleep': LoaderSleep, 'augment': Augment, 'item': Item, 'pageable': Pageable, 'small_ops': SmallOps, 'gc_collect': Collect,
          'empty_cache': EmptyCache, 'synchronize': Synchronize, 'compute': Compute}
training = CAUSES[sys.argv[1]]()
for step in range(int(sys.argv[2]) if len(sys.argv) > 2 else 60):
    training.after(training.train_step(training.load()))
torch.cuda.synchronize()
