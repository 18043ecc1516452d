import time

import torch
from torch import nn

net = nn.Sequential(nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 512)).cuda()
optimizer = torch.optim.AdamW(net.parameters())


def load():
    time.sleep(0.002)
    return torch.randn(256, 512)


def train_step(batch):
    loss = net(batch.cuda()).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss


for step in range(40):
    loss = train_step(load())
    if step % 4 == 3:
        print(step, loss.item())
