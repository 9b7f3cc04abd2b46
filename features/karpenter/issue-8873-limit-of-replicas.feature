# https://github.com/aws/karpenter-provider-aws/issues/8873

@karpenter @issue-8873
Feature: A drifted node of a NodePool of a fixed size is replaced within its limit

  @karpenter-8873-limit-of-replicas
  Scenario: As many nodes are allowed as are wanted
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
        limits: {nodes: 2}
        disruption: {consolidateAfter: 0s, budgets: [{nodes: "1"}]}
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
      spec: {template: {metadata: {labels: {example.org/edited: "1"}}}}
      """
    Then "karpenter" has sent "delete" of "nodes" at least 2 times within 14m
