# A draft by nodestorm draft. It runs as it is, but has only what there was, not what went wrong:
# go on with the Whens and Thens, with the faults that you suspect, and with what is noted here.
#
#   nodestorm lint THIS.feature; nodestorm run THIS.feature --target cluster-autoscaler@1.33.0
#
# From must-gather (dump, 8 of 13 files)
#
# Not known, or not as it was:
# - current.log: a draft has no use for 1 Cluster Autoscaler line: scale_up.go (1)
# - pods of the namespace shop are in default here

Feature: A pod finds a node

  Scenario: A pod finds a node with Cluster Autoscaler
    Given a cluster
    # Nominal sizes: an operating system takes 5 % of the memory of each.
    And the cloud also has these instance types:
      | name     | cpu | memory |
      | m5-large | 2   | 8      |
    # No source names a node that is in no group; this is for the cluster's own.
    And a Ready Node "control-plane" for system pods only
    And Cluster API v1.12.0
    # Each has its least number of machines. What else ran on them is not here.
    And these node groups:
      | name          | min | max | type     | labels                            |
      | workers-eu-1a | 1   | 6   | m5-large | topology.kubernetes.io/zone=eu-1a |
    And "MachineDeployment/workers-eu-1a" is scaled to 2
    # These fill the machines that are there, so that the pods below wait for another.
    And a pod "in-use-workers-eu-1a-1" that requests 1500m CPU is Running
    And a pod "in-use-workers-eu-1a-2" that requests 1500m CPU is Running
    # Left out, as the world sets them or they shape no decision: logtostderr, namespace, v
    # As far as the log has flags, those that shape decisions and are not here were at their defaults.
    And Cluster Autoscaler with the flags:
      | flag                     | value |
      | scale-down-unneeded-time | 5m    |
      | max-nodes-total          | 24    |
    # The scheduler on web-5c-abc: 0/2 nodes are available: 2 Insufficient cpu.
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata:
        name: web-5c-abc
      spec:
        containers:
        - image: app
          name: app
          resources:
            requests:
              cpu: "1"
              memory: 1Gi
      """
    Then the pod "web-5c-abc" is Running within 15m
