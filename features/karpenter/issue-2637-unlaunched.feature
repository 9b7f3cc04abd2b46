# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2637, first in v1.8.1.

@karpenter @issue-2637
Feature: A NodePool of a fixed size that is made smaller lets go what it does not have yet

  @karpenter-2637-unlaunched
  Scenario: The instance type of the third machine does not exist, and two are wanted again
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
      metadata: {name: static}
      spec:
        replicas: 2
        disruption: {consolidateAfter: 0s, budgets: [{nodes: "0"}]}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    And "node" has recorded "ready" of "nodes" 3 times
    When the scenario waits for 1m
    And "NodePool/static" is patched with:
      """
      spec:
        replicas: 3
        template:
          spec:
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-40x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    And the scenario waits for 1m
    And "NodePool/static" is scaled to 2
    Then "karpenter" never sends "delete" of "nodes" within 3m
