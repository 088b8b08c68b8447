"""The docstrings' formulas as LaTeX: in `help()` they stay readable text, on the site they are drawn.

Several for a name take the places of its first indented blocks, in their order.
"""

SOFT = r"""
\begin{aligned}
e_{ij} &= x_i \cdot k_j \quad (j \in N(i)), \qquad K = X W_K, \quad V = X W_V \\
o_i &= \sum_{j} \mathrm{softmax}_j(e_{ij})\, v_j
\end{aligned}
"""

COSINE = r"""
\begin{aligned}
\text{cosine:} \quad & e_{ij} = \tau\, q_i \cdot k_j \,/\, (\left\| q_i\right\|\, \left\| k_j\right\|), \quad Q = X W_Q, \quad \tau \text{ learned, 4 at the start} \\
"""

FORMULAS = {
    "ganet_tf.layers.GCN": r"O = {\hat D}^{-1/2} \hat A {\hat D}^{-1/2} X W + b, \qquad \hat A = A + I, \qquad {\hat d{}}_i = 1 + \left| N(i) \right|",
    "ganet_tf.layers.GAO": (
        SOFT,
        COSINE
        + r"""
\text{uniform:} \quad & o_i = \frac{1}{\left| N(i) \right|} \sum_j v_j, \text{ without } W_K \\
\text{weighted edges:} \quad & a_{ij} e_{ij} \text{ in the place of } e_{ij}, \quad a_{ii} = 1
\end{aligned}
""",
    ),
    "ganet_tf.layers.HGAO": (
        r"""
\begin{aligned}
y &= \left| X p \right| \,/\, \left\| p\right\| \\
\mathrm{idx}_i &= \text{the } k \text{ nodes of } N(i) \text{ with the largest } y \\
\tilde X &= X \circ \sigma(y), \qquad K = \tilde X W_K, \qquad V = \tilde X W_V \\
z_i &= \sum_{j \in \mathrm{idx}_i} \mathrm{softmax}_j(x_i \cdot k_j)\, v_j
\end{aligned}
""",
        COSINE
        + r"""
\text{uniform:} \quad & z_i = \frac{1}{\left| \mathrm{idx}_i\right|} \sum_j v_j: \text{ the hard selection alone, without } W_K \\
\text{gate = double:} \quad & \tilde X = X \circ 2\, \sigma(y); \qquad \text{gate = None: } \tilde X = X, \text{ and } p \text{ stays as it was drawn} \\
\text{weighted edges:} \quad & \mathrm{idx}_i \text{ by } a_{ij} y_j, \quad a_{ii} = 1; \text{ the softmax as without}
\end{aligned}
""",
    ),
    "ganet_tf.layers.CGAO": r"""
\begin{aligned}
K &= X W_K, \qquad V = X W_V, \qquad E = K^T K \\
O &= V\, \mathrm{softmax}(E)^T
\end{aligned}
""",
    "ganet_tf.layers.TopKGAO": (
        r"""
\begin{aligned}
e_{ij} &= x_i \cdot k_j \quad (j \in N(i)), \qquad K = X W_K, \quad V = X W_V \\
o_i &= \sum_{j \in \mathrm{top}_k(e_i)} \mathrm{softmax}_j(e_{ij})\, v_j
\end{aligned}
""",
        COSINE
        + r"""
\text{uniform:} \quad & \text{the mean of } v_j \text{ over the } k \text{ neighbours with the largest } x_i \cdot x_j; \text{ a } W_K \text{ would never learn} \\
\text{weighted edges:} \quad & a_{ij} e_{ij} \text{ in the place of } e_{ij}, \quad a_{ii} = 1, \text{ in the ranking too}
\end{aligned}
""",
    ),
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
O &= \sum_{k=0}^{K} T_k(\tilde L)\, X W_k + b, \qquad \tilde L = 2 L / \lambda_{\mathrm{max}} - I, \quad L = I - D^{-1/2} A D^{-1/2} \\
T_0 &= I, \quad T_1 = \tilde L, \quad T_k = 2 \tilde L\, T_{k-1} - T_{k-2}
\end{aligned}
""",
    "ganet_tf.layers.SAGEConv": r"m_i = \mathrm{mean}_{j \in N(i)}\, x_j, \qquad o_i = x_i W_{\mathrm{self}} + m_i W_{\mathrm{neighbors}} + b",
    "ganet_tf.layers.Set2Set": r"""
q_t = \mathrm{LSTM}(q^*_{t-1}), \quad a_i = \mathrm{softmax}_{i \in g}(x_i \cdot q_t), \quad r_t = \sum_{i \in g} a_i x_i,
\quad q^*_t = [q_t, r_t]
""",
    "ganet_tf.layers.DiffPool": (
        r"S = \mathrm{softmax}(H W + b), \qquad X' = S^T X, \qquad A' = S^T A S",
        r"""
\begin{aligned}
\text{link:} \quad & \left\| A - S S^T\right\|^2_F \,/\, n^2 \quad \text{(neighbours belong together; no } n \times n \text{ matrix)} \\
\text{entropy:} \quad & \frac{1}{n} \sum_i H(S_i) \quad \text{(a node belongs to one cluster)}
\end{aligned}
""",
    ),
    "ganet_tf.layers.DenseSAGEConv": r"""
m_k = \sum_l A_{kl} x_l \,/\, \max(1, \sum_l A_{kl}), \qquad o_k = x_k W_{\mathrm{self}} + m_k W_{\mathrm{neighbors}} + b
""",
    "ganet_tf.layers.MaxPooling": r"o_{gc} = \max_{i \in g} x_{ic}",
    "ganet_tf.layers.MeanPooling": r"o_g = \frac{1}{n_g} \sum_{i \in g} x_i",
    "ganet_tf.layers.SumPooling": r"o_g = \sum_{i \in g} x_i",
    "ganet_tf.models.DGCNN": r"""
h_l = \tanh({\hat D}^{-1} \hat A\, h_{l-1} W_l), \qquad [h_1, \ldots, h_n] \;\; \text{(97 channels), then DGCNNHead}
""",
    "ganet_tf.models.GCN": r"O = \hat A\, \mathrm{ReLU}(\hat A X W_1 + b_1)\, W_2 + b_2",
    "ganet_tf.models.Chebyshev": r"""
O = \sum_{k=0}^{K} T_k(\tilde L)\, \mathrm{ReLU}(\sum_{k=0}^{K} T_k(\tilde L)\, X W_k)\, V_k
""",
    "ganet_tf.models.DeepWalk": r"u = \text{skip-gram of random walks (SkipGram)}, \qquad O_i = u_i W + b",
    "ganet_tf.models.DiffPoolNet": r"""
\begin{aligned}
Z &= \mathrm{embed}(A, X), \quad H = \mathrm{assign}(A, X), \quad (X', A') = \mathrm{DiffPool}(Z, H), \quad P = \mathrm{pooled}(A', X') \\
O &= \mathrm{ReLU}([\max_i Z_i,\; \max_k P_k]\, W_1 + b_1)\, W_2 + b_2
\end{aligned}
""",
    "ganet_tf.models.GANet": r"""
h_0 = \mathrm{GCN}(X), \qquad h_l = [h_{l-1}, \mathrm{GCN}(\mathrm{operator}(h_{l-1}))], \qquad O = \mathrm{GCN}(h_n)
""",
    "ganet_tf.models.GraphSAGE": r"""
H = [h_1, \ldots, h_n] \text{ of SAGEConvs}, \qquad O = \mathrm{mean}_{i \in g}\, H_i W + b
""",
    "ganet_tf.models.MeanTeacher": r"""
\mathrm{loss} + \mathrm{weight} \cdot \min(1, t / \mathrm{ramp}) \cdot \frac{1}{N} \sum_i
\left\| \mathrm{softmax}(z_i) - \mathrm{softmax}(z'_i / \mathrm{temperature}) \right\|^2
""",
    "ganet_tf.models.Planetoid": r"""
h = \mathrm{softmax}(x W_1 + b_1), \qquad u = \mathrm{softmax}(e W_2 + b_2), \qquad O = [h, u]\, W_3 + b_3
""",
    "ganet_tf.models.Set2SetNet": r"""
H = [h_1, \ldots, h_n] \text{ of SAGEConvs}, \qquad O = \mathrm{ReLU}(\mathrm{Set2Set}(H)\, W_1 + b_1)\, W_2 + b_2
""",
    "ganet_tf.ops.chebyshev": r"""
B_k = C_k + 2 \tilde L B_{k+1} - B_{k+2}, \qquad \text{the sum} = C_0 + \tilde L B_1 - B_2
""",
    "ganet_tf.ops.set2set": r"""
q_t = \mathrm{LSTM}(q^*_{t-1}), \quad a_i = \mathrm{softmax}_i(x_i \cdot q_t), \quad r_t = \sum_i a_i x_i, \quad q^*_t = [q_t, r_t]
""",
    "ganet_tf.explain.Attention": r"""
\alpha_{ij} = \mathrm{softmax}_j(s_{ij}) \text{ over the } k \text{ candidates } j \text{ of } i \text{ with the largest } r_{ij}
""",
}
