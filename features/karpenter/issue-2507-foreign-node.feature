# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2507, first in v1.8.0.

@karpenter @issue-2507
Feature: A node that is not Karpenter's is let alone

  @karpenter-2507-foreign-node
  Scenario: A machine is being launched while there is a node without a provider ID
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter with a NodePool "default"
    When these objects are created:
      """
      apiVersion: karpenter.sh/v1
      kind: NodeClaim
      metadata: {name: mine}
      spec:
        nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
        requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
      """
    And "Node/system" is labelled "example.com/rack=first" once "karpenter" has sent "patch" of "nodeclaims" "mine"
    Then "karpenter" never sends "patch" of "nodes" "system" within 2m
