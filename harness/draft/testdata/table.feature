# A draft by nodestorm draft. It runs as it is, but has only what there was, not what went wrong:
# go on with the Whens and Thens, with the faults that you suspect, and with what is noted here.
#
#   nodestorm lint THIS.feature; nodestorm run THIS.feature --target cluster-autoscaler@1.33.0
#
# From events.txt (events)
#
# Not known, or not as it was:
# - events.txt: 1 lines are no events, cut off or of another kind, and were left out
# - events: a draft has no use for 1 event: RegisteredNode (1)
# - the cloud is not known; a project of the Hetzner Cloud stands for it, with the same groups, shapes, labels and taints
# - how small the node group pool-a may be is not known: 0 to 2 is taken
# - the group pool-a had 1 node, of which the sources do not name all: the others are called pool-a-1 and so on, and are full if pods wait
# - what node node-a has is not known: 4 CPUs and 16 GiB are taken
# - what node node-b has is not known: 4 CPUs and 16 GiB are taken
# - what a node of the group pool-a has is not known: 4 CPUs and 8 GB are taken
# - pods of the namespace shop are in default here
# - what the pod cart-7d4b9-aaaaa asks for is not in the sources: 1 CPU is taken
# - what the pod cart-7d4b9-ccccc asks for is not in the sources: 1 CPU is taken

Feature: 2 pods find a node

  Scenario: 2 pods find a node with Cluster Autoscaler
    Given a cluster
    And a Hetzner Cloud project
    And these Ready Nodes:
      | name     | type | zone | group  |
      | node-a   | cx42 | fsn1 |        |
      | node-b   | cx42 | fsn1 |        |
      | pool-a-1 | cx32 | fsn1 | pool-a |
    # What the pods on each node request together. A pod without an owner keeps its node from being removed.
    And these objects:
      """
      apiVersion: v1
      kind: Pod
      metadata:
        annotations:
          pods: "1"
        name: pool-a-1-in-use
      spec:
        containers:
        - image: app
          name: app
          resources:
            requests:
              cpu: 3500m
        nodeName: pool-a-1
        tolerations:
        - operator: Exists
      """
    And these node groups:
      | name   | min | max | type | zone |
      | pool-a | 0   | 2   | cx32 | fsn1 |
    # Its flags are not in the sources.
    And Cluster Autoscaler
    # The scheduler on cart-7d4b9-aaaaa: 0/3 nodes are available: 1 node(s) had untolerated taint {dedicated: db}, 2 Insufficient cpu. preemption: 0/3 nodes are available. password=[removed]
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata:
        name: cart-7d4b9-aaaaa
      spec:
        containers:
        - image: app
          name: app
          resources:
            requests:
              cpu: "1"
      ---
      apiVersion: v1
      kind: Pod
      metadata:
        name: cart-7d4b9-ccccc
      spec:
        containers:
        - image: app
          name: app
          resources:
            requests:
              cpu: "1"
      """
    Then the pod "cart-7d4b9-aaaaa" is Running within 15m
    And the pod "cart-7d4b9-ccccc" is Running within 15m
