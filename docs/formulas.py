"""The docstrings' formulas as LaTeX: in `help()` they stay readable text, on the site they are drawn."""

SOFT = r"""
\begin{aligned}
e_{ij} &= x_i \cdot k_j \quad (j \in N(i)), \qquad K = X W_K, \quad V = X W_V \\
o_i &= \sum_{j} \mathrm{softmax}_j(e_{ij})\, v_j
\end{aligned}
"""

FORMULAS = {
    "ganet_tf.layers.GCN": r"O = \hat D^{-1/2} \hat A \hat D^{-1/2} X W + b, \qquad \hat A = A + I, \qquad \hat d_i = 1 + |N(i)|",
    "ganet_tf.layers.GAO": SOFT,
    "ganet_tf.layers.HGAO": r"""
\begin{aligned}
y &= |X p| \,/\, \|p\| \\
\mathrm{idx}_i &= \text{the } k \text{ nodes of } N(i) \text{ with the largest } y \\
\tilde X &= X \circ \sigma(y), \qquad K = \tilde X W_K, \qquad V = \tilde X W_V \\
z_i &= \sum_{j \in \mathrm{idx}_i} \mathrm{softmax}_j(x_i \cdot k_j)\, v_j
\end{aligned}
""",
    "ganet_tf.layers.CGAO": r"""
\begin{aligned}
K &= X W_K, \qquad V = X W_V, \qquad E = K^T K \\
O &= V\, \mathrm{softmax}(E)^T
\end{aligned}
""",
    "ganet_tf.layers.TopKGAO": r"""
\begin{aligned}
e_{ij} &= x_i \cdot k_j \quad (j \in N(i)), \qquad K = X W_K, \quad V = X W_V \\
o_i &= \sum_{j \in \mathrm{top}_k(e_i)} \mathrm{softmax}_j(e_{ij})\, v_j
\end{aligned}
""",
    "ganet_tf.layers.SampledGAO": r"""
\begin{aligned}
e_{ij} &= x_i \cdot k_j \quad (j \in N(i)), \qquad K = X W_K, \quad V = X W_V \\
o_i &= v_j, \quad j \sim \mathrm{softmax}_j(e_{ij}) \text{ in training}, \quad j = \mathrm{argmax}_j\, e_{ij} \text{ else}
\end{aligned}
""",
    "ganet_tf.layers.GAM": r"h = \mathrm{operator}(X), \qquad g = \mathrm{GCN}(h), \qquad O = [X, g]",
    "ganet_tf.layers.GAT": r"""
e_{ij} = \mathrm{LeakyReLU}(a_t \cdot h_i + a_s \cdot h_j), \qquad o_i = \sum_j \mathrm{softmax}_j(e_{ij})\, h_j
""",
    "ganet_tf.layers.Linear": "O = X W",
    "ganet_tf.layers.ChebConv": r"""
\begin{aligned}
O &= \sum_{k=0}^{K} T_k(\tilde L)\, X W_k + b, \qquad \tilde L = 2 L / \lambda_{max} - I, \quad L = I - D^{-1/2} A D^{-1/2} \\
T_0 &= I, \quad T_1 = \tilde L, \quad T_k = 2 \tilde L\, T_{k-1} - T_{k-2}
\end{aligned}
""",
    "ganet_tf.layers.SAGEConv": r"m_i = \mathrm{mean}_{j \in N(i)}\, x_j, \qquad o_i = x_i W_{self} + m_i W_{neighbors} + b",
    "ganet_tf.layers.Set2Set": r"""
q_t = \mathrm{LSTM}(q^*_{t-1}), \quad a_i = \mathrm{softmax}_{i \in g}(x_i \cdot q_t), \quad r_t = \sum_{i \in g} a_i x_i,
\quad q^*_t = [q_t, r_t]
""",
    "ganet_tf.layers.DiffPool": r"S = \mathrm{softmax}(H W + b), \qquad X' = S^T X, \qquad A' = S^T A S",
    "ganet_tf.explain.Attention": r"""
\alpha_{ij} = \mathrm{softmax}_j(s_{ij}) \text{ over the } k \text{ candidates } j \text{ of } i \text{ with the largest } r_{ij}
""",
}
