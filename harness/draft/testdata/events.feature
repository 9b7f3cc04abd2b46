# A draft by nodestorm draft. It runs as it is, but has only what there was, not what went wrong:
# go on with the Whens and Thens, with the faults that you suspect, and with what is noted here.
#
#   nodestorm lint THIS.feature; nodestorm run THIS.feature --target karpenter@v1.7.0
#
# From events.yaml (events)
#
# Not known, or not as it was:
# - events.yaml: 1 objects are cut off or malformed, and were left out
# - no source has a NodePool: one is taken that takes every type
# - what the pod web-1 asks for is not in the sources: 1 CPU is taken
# - what the pod web-0 asks for is not in the sources: 1 CPU is taken

Feature: 2 pods find a node

  Scenario: 2 pods find a node with Karpenter
    Given a cluster
    # No source names a node that Karpenter did not bring. Without a Ready one Kubernetes evicts nothing and taints nothing.
    And a Ready Node "system" for system pods only
    # How long machines take is not in the sources.
    And machines that register 30s after their launch and are Ready 20s later
    # What it has by variables is in no draft; say "the target has the environment variables:" before.
    And Karpenter
    # The provider is kwok, with types such as c-4x-amd64-linux (4 CPUs; c has 2 GiB for each, s 4, m 8).
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata:
        name: default
      spec: {}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata:
        name: default
      spec:
        template:
          spec:
            nodeClassRef:
              group: karpenter.kwok.sh
              kind: KWOKNodeClass
              name: default
            requirements:
            - key: kubernetes.io/arch
              operator: In
              values:
              - amd64
      """
    # The scheduler on web-0: 0/1 nodes are available: 1 Insufficient memory.
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata:
        name: web-1
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
        name: web-0
      spec:
        containers:
        - image: app
          name: app
          resources:
            requests:
              cpu: "1"
      """
    Then the pod "web-1" is Running within 15m
    And the pod "web-0" is Running within 15m
