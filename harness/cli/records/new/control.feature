Feature: What a user forbids Karpenter to disrupt stays

  @SCENARIO-ID
  Scenario: A machine is not as its NodePool says any more, and a pod on it must not be disrupted
    Given a cluster
    And a Ready Node "system" for system pods only
    And Karpenter with a NodePool "default"
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: stays, annotations: {karpenter.sh/do-not-disrupt: "true"}}
      spec:
        containers: [{name: stays, image: web, resources: {requests: {cpu: 1}}}]
      """
    Then the pod "stays" is Running within 5m
    # Without the annotation Karpenter replaces the machine now.
    When "NodePool/default" is patched with:
      """
      spec: {template: {metadata: {labels: {example.com/generation: second}}}}
      """
    Then "karpenter" never sends "delete" of "nodeclaims" within 10m
