"""Dirichlet distributions over the classes of each vertex, one row of alpha per vertex."""

from __future__ import annotations

import torch


def entropy(alpha: torch.Tensor) -> torch.Tensor:
    """Differential entropy of Dir(alpha), per row.

    >>> entropy(torch.tensor([[1.0, 1.0]])).tolist()
    [0.0]
    """
    total = alpha.sum(dim=1)
    log_b = torch.lgamma(alpha).sum(dim=1) - torch.lgamma(total)
    inner = (total - alpha.shape[1]) * torch.digamma(total)
    return log_b + inner - ((alpha - 1) * torch.digamma(alpha)).sum(dim=1)


def divergence(alpha: torch.Tensor, prior: torch.Tensor) -> torch.Tensor:
    """KL(Dir(alpha), Dir(prior)), per row.

    >>> divergence(torch.tensor([[2.0, 1.0]]), torch.tensor([[2.0, 1.0]])).tolist()
    [0.0]
    """
    total = alpha.sum(dim=1)
    found = torch.lgamma(total) - torch.lgamma(prior.sum(dim=1))
    found = found + (torch.lgamma(prior) - torch.lgamma(alpha)).sum(dim=1)
    return found + ((alpha - prior) * (torch.digamma(alpha) - torch.digamma(total)[:, None])).sum(dim=1)
