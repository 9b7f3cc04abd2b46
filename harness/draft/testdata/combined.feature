# A draft by nodestorm draft. It runs as it is, but has only what there was, not what went wrong:
# go on with the Whens and Thens, with the faults that you suspect, and with what is noted here.
#
#   nodestorm lint THIS.feature; nodestorm run THIS.feature --target cluster-autoscaler@1.33.0
#
# From dump (dump, 5 of 6 files)
# From events.txt (events)
# From pasted.log (log)
#
# Not known, or not as it was:
# - events.txt: 1 lines are no events, cut off or of another kind, and were left out
# - pasted.log: a draft has no use for 2 Cluster Autoscaler lines: static_autoscaler.go (2)
# - pasted.log: 3 lines are of other programs, cut off or without a time, and were left out
# - events: a draft has no use for 2 events: RegisteredNode (2)
# - the group eksctl-shop-ng-workers had 2 nodes, of which the sources do not name all: the others are called eksctl-shop-ng-workers-1 and so on, and are full if pods wait
# - what node ip-10-0-1-7.eu-central-1.compute.internal has is not known: 4 CPUs and 16 GiB are taken
# - what node node-a has is not known: 4 CPUs and 16 GiB are taken
# - what node node-b has is not known: 4 CPUs and 16 GiB are taken
# - what a node of the group eksctl-shop-ng-workers has is not known: 4 CPUs and 8 GB are taken
# - what a node of the group eksctl-shop-ng-gpu has is not known: 4 CPUs and 8 GB are taken
# - pods of the namespace shop are in default here
# - what the pod cart-7d4b9-aaaaa asks for is not in the sources: 1 CPU is taken
# - what the pod cart-7d4b9-bbbbb asks for is not in the sources: 1 CPU is taken
# - what the pod cart-7d4b9-ccccc asks for is not in the sources: 1 CPU is taken
# - the volumes of the pod web-9 are left out, and with them the zones that they are in

Feature: 4 pods find a node

  Scenario: 4 pods find a node with Cluster Autoscaler 1.33.0
    Given a cluster
    # Nominal sizes: an operating system takes 5 % of the memory of each.
    And the cloud also has these instance types:
      | name            | cpu | memory |
      | machine-8-32-75 | 8   | 32.75  |
    And a Hetzner Cloud project
    And these Ready Nodes:
      | name                                      | type            | zone | group                  | labels                                                             | taints                                           |
      | control                                   | machine-8-32-75 | fsn1 |                        |                                                                    | node-role.kubernetes.io/control-plane:NoSchedule |
      | ip-10-0-1-7.eu-central-1.compute.internal | cx42            | fsn1 |                        |                                                                    |                                                  |
      | node-a                                    | cx42            | fsn1 |                        |                                                                    |                                                  |
      | node-b                                    | cx42            | fsn1 |                        |                                                                    |                                                  |
      | pool-a-1                                  | cx22            | nbg1 | pool-a                 | csi.hetzner.cloud/location=nbg1,hcloud/node-group=pool-a,team=shop |                                                  |
      | eksctl-shop-ng-workers-1                  | cx32            | fsn1 | eksctl-shop-ng-workers |                                                                    |                                                  |
      | eksctl-shop-ng-workers-2                  | cx32            | fsn1 | eksctl-shop-ng-workers |                                                                    |                                                  |
    # What the pods on each node request together. A pod without an owner keeps its node from being removed.
    And these objects:
      """
      apiVersion: v1
      kind: Pod
      metadata:
        annotations:
          pods: "1"
        name: control-in-use
      spec:
        containers:
        - image: app
          name: app
          resources:
            requests:
              cpu: 100m
        nodeName: control
        tolerations:
        - operator: Exists
      ---
      apiVersion: v1
      kind: Pod
      metadata:
        annotations:
          pods: "1"
        name: node-b-in-use
      spec:
        containers:
        - image: app
          name: app
          resources:
            requests:
              cpu: 1500m
              memory: 1Gi
        nodeName: node-b
        tolerations:
        - operator: Exists
      ---
      apiVersion: v1
      kind: Pod
      metadata:
        annotations:
          pods: "1"
        name: eksctl-shop-ng-workers-1-in-use
      spec:
        containers:
        - image: app
          name: app
          resources:
            requests:
              cpu: 3500m
        nodeName: eksctl-shop-ng-workers-1
        tolerations:
        - operator: Exists
      ---
      apiVersion: v1
      kind: Pod
      metadata:
        annotations:
          pods: "1"
        name: eksctl-shop-ng-workers-2-in-use
      spec:
        containers:
        - image: app
          name: app
          resources:
            requests:
              cpu: 3500m
        nodeName: eksctl-shop-ng-workers-2
        tolerations:
        - operator: Exists
      """
    And these node groups:
      | name                   | min | max | type | zone | labels                                                             |
      | eksctl-shop-ng-gpu     | 0   | 2   | cx32 | fsn1 |                                                                    |
      | eksctl-shop-ng-workers | 1   | 5   | cx32 | fsn1 |                                                                    |
      | pool-a                 | 1   | 4   | cx22 | nbg1 | csi.hetzner.cloud/location=nbg1,hcloud/node-group=pool-a,team=shop |
    # Left out, as the world sets them or they shape no decision: kubeconfig, v
    # As far as the log has flags, those that shape decisions and are not here were at their defaults.
    And Cluster Autoscaler with the flags:
      | flag                     | value       |
      | scale-down-unneeded-time | 2m          |
      | expander                 | least-waste |
      | max-node-provision-time  | 5m0s        |
    # The scheduler on cart-7d4b9-aaaaa: 0/3 nodes are available: 1 node(s) had untolerated taint {dedicated: db}, 2 Insufficient cpu. preemption: 0/3 nodes are available. password=[removed]
    # The scheduler on web-9: 0/2 nodes are available: 2 Insufficient cpu. # And more """ ```
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
        name: cart-7d4b9-bbbbb
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
      ---
      apiVersion: v1
      kind: Pod
      metadata:
        name: web-9
      spec:
        containers:
        - image: app
          name: app
          resources:
            requests:
              cpu: 1250m
              memory: 1Gi
        nodeSelector:
          team: shop
        priorityClassName: system-cluster-critical
      """
    Then the pod "cart-7d4b9-aaaaa" is Running within 15m
    And the pod "cart-7d4b9-bbbbb" is Running within 15m
    And the pod "cart-7d4b9-ccccc" is Running within 15m
    And the pod "web-9" is Running within 15m
