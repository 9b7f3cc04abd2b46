# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2840, first in v1.10.0.

@karpenter @issue-2840
Feature: A NodePool of a fixed size that is being deleted launches nothing

  @karpenter-2840-nodepool-goes
  Scenario: A finalizer holds the NodePool, and one of its NodeClaims is deleted
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 5s later
    And the target has the environment variables:
      | FEATURE_GATES | StaticCapacity=true |
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: static, finalizers: [example.org/held]}
      spec:
        replicas: 2
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    And "node" has recorded "ready" of "nodes" 3 times
    When the scenario waits for 1m
    And "NodePool/static" is deleted
    And the scenario waits for 30s
    And "NodeClaim/$name" is deleted once "karpenter" has ever sent "create" of "nodeclaims"
    Then "karpenter" never sends "create" of "nodeclaims" within 4m
