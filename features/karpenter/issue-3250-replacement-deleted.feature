# https://github.com/kubernetes-sigs/karpenter/issues/3250

@karpenter @issue-3250
Feature: What replaces a drifted node of a NodePool of a fixed size is not one too many

  @karpenter-3250-replacement-deleted
  Scenario: All nodes have drifted, and the API server takes its time over NodeClaims
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
        replicas: 8
        disruption: {consolidateAfter: 0s, budgets: [{nodes: "100%"}]}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    And "node" has recorded "ready" of "nodes" 9 times
    When the scenario waits for 1m
    And every call "create nodeclaims.karpenter.sh" of the program "karpenter" is carried out, but its response is held back for 900ms, for 10m
    And "NodePool/static" is patched with:
      """
      spec: {template: {metadata: {labels: {example.org/edited: "1"}}}}
      """
    And the scenario waits for 20m
    Then "karpenter" has sent "create" of "nodeclaims" exactly 8 times within 1m
