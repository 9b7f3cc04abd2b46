# A draft by nodestorm draft. It runs as it is, but has only what there was, not what went wrong:
# go on with the Whens and Thens, with the faults that you suspect, and with what is noted here.
#
#   nodestorm lint THIS.feature; nodestorm run THIS.feature --target cluster-autoscaler@1.32.5
#
# From pasted.log (log)
#
# Not known, or not as it was:
# - pasted.log: a draft has no use for 2 Cluster Autoscaler lines: static_autoscaler.go (2)
# - pasted.log: 3 lines are of other programs, cut off or without a time, and were left out
# - the cloud is aws; a project of the Hetzner Cloud stands for it, with the same groups, shapes, labels and taints
# - the group eksctl-shop-ng-workers had 2 nodes, of which the sources do not name all: the others are called eksctl-shop-ng-workers-1 and so on, and are full if pods wait
# - what node ip-10-0-1-7.eu-central-1.compute.internal has is not known: 4 CPUs and 16 GiB are taken
# - what a node of the group eksctl-shop-ng-workers has is not known: 4 CPUs and 8 GB are taken
# - what a node of the group eksctl-shop-ng-gpu has is not known: 4 CPUs and 8 GB are taken
# - pods of the namespace shop are in default here
# - what the pod cart-7d4b9-aaaaa asks for is not in the sources: 1 CPU is taken
# - what the pod cart-7d4b9-bbbbb asks for is not in the sources: 1 CPU is taken

Feature: 2 pods find a node

  Scenario: 2 pods find a node with Cluster Autoscaler 1.32.5
    Given a cluster
    And a Hetzner Cloud project
    And these Ready Nodes:
      | name                                      | type | zone | group                  |
      | ip-10-0-1-7.eu-central-1.compute.internal | cx42 | fsn1 |                        |
      | eksctl-shop-ng-workers-1                  | cx32 | fsn1 | eksctl-shop-ng-workers |
      | eksctl-shop-ng-workers-2                  | cx32 | fsn1 | eksctl-shop-ng-workers |
    # What the pods on each node request together. A pod without an owner keeps its node from being removed.
    And these objects:
      """
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
      | name                   | min | max | type | zone |
      | eksctl-shop-ng-gpu     | 0   | 2   | cx32 | fsn1 |
      | eksctl-shop-ng-workers | 1   | 5   | cx32 | fsn1 |
    # As far as the log has flags, those that shape decisions and are not here were at their defaults.
    And Cluster Autoscaler with the flags:
      | flag                    | value       |
      | expander                | least-waste |
      | max-node-provision-time | 5m0s        |
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
      """
    Then the pod "cart-7d4b9-aaaaa" is Running within 15m
    And the pod "cart-7d4b9-bbbbb" is Running within 15m
