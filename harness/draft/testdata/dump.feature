# A draft by nodestorm draft. It runs as it is, but has only what there was, not what went wrong:
# go on with the Whens and Thens, with the faults that you suspect, and with what is noted here.
#
#   nodestorm lint THIS.feature; nodestorm run THIS.feature --target cluster-autoscaler@1.33.0
#
# From dump (dump, 5 of 6 files)
#
# Not known, or not as it was:
# - events: a draft has no use for 1 event: RegisteredNode (1)
# - the volumes of the pod web-9 are left out, and with them the zones that they are in

Feature: A pod finds a node

  Scenario: A pod finds a node with Cluster Autoscaler 1.33.0
    Given a cluster
    # Nominal sizes: an operating system takes 5 % of the memory of each.
    And the cloud also has these instance types:
      | name            | cpu | memory |
      | machine-8-32-75 | 8   | 32.75  |
    And a Hetzner Cloud project
    And these Ready Nodes:
      | name     | type            | zone | group  | labels                                                             | taints                                           |
      | control  | machine-8-32-75 | fsn1 |        |                                                                    | node-role.kubernetes.io/control-plane:NoSchedule |
      | pool-a-1 | cx22            | nbg1 | pool-a | csi.hetzner.cloud/location=nbg1,hcloud/node-group=pool-a,team=shop |                                                  |
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
        name: pool-a-1-in-use
      spec:
        containers:
        - image: app
          name: app
          resources:
            requests:
              cpu: 1500m
              memory: 1Gi
        nodeName: pool-a-1
        tolerations:
        - operator: Exists
      """
    And these node groups:
      | name   | min | max | type | zone | labels                                                             |
      | pool-a | 1   | 4   | cx22 | nbg1 | csi.hetzner.cloud/location=nbg1,hcloud/node-group=pool-a,team=shop |
    # Left out, as the world sets them or they shape no decision: kubeconfig, v
    And Cluster Autoscaler with the flags:
      | flag                     | value |
      | scale-down-unneeded-time | 2m    |
    # The scheduler on web-9: 0/2 nodes are available: 2 Insufficient cpu. # And more """ ```
    When these objects are created:
      """
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
    Then the pod "web-9" is Running within 15m
